//! The one macro an author calls, and the object behind it.

use super::{
    Gateway, HostHandle, Plugin, Refusal, Tx, chain,
    definition::Handlers,
    fence::{self, ContainedDrop},
    job,
};
use crate::abi::{
    self, EventSource, Fault, FaultKind, FfiBytes, HostBox, PluginBox, PluginObject, PluginObject_TO, SubscribedEvent,
    TransactionBox,
};
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};

type Report = Box<dyn Fn(Fault) + Send + Sync>;

struct Object<P> {
    handlers: ContainedDrop<Handlers<P>, Report>,
    gateway: ContainedDrop<Gateway<P>, Report>,
}

/// The entry point `manifest` of a plugin's library.
pub extern "C" fn object_manifest<P: Plugin>() -> RResult<FfiBytes, Fault> {
    fence::install_hook();
    let manifest = fence::contain(|| serde_json::to_vec(&P::define().build().0));
    match manifest {
        Ok(Ok(bytes)) => RResult::ROk(bytes.into()),
        Ok(Err(error)) => RResult::RErr(fence::error_fault(error)),
        Err(fault) => RResult::RErr(fault),
    }
}

/// The entry point `construct` of a plugin's library.
pub extern "C" fn object_new<P: Plugin>(host: HostBox, config: FfiBytes) -> RResult<PluginBox, Fault> {
    fence::install_hook();
    fence::contain(move || construct::<P>(host, &config)).and_then(|made| made).into()
}

fn construct<P: Plugin>(host: HostBox, config: &[u8]) -> Result<PluginBox, Fault> {
    let host = HostHandle::new(host)?;
    let config = serde_json::from_slice(config).map_err(|error| config_fault(error.to_string()))?;
    let plugin = P::new(config, &host).map_err(|Refusal(reason)| config_fault(reason))?;
    let handlers = P::define().build().1;
    let reporter = host.clone();
    let gateway = Gateway::new(plugin, host.clone());
    let object = Object {
        handlers: ContainedDrop::new(handlers, Box::new(move |fault| reporter.report("drop", fault))),
        gateway: ContainedDrop::new(gateway, Box::new(move |fault| host.report("drop", fault))),
    };
    Ok(PluginObject_TO::from_value(object, TD_Opaque))
}

fn config_fault(reason: String) -> Fault {
    Fault { kind: FaultKind::Config, message: reason.into(), location: RString::new() }
}

impl<P: Plugin> Object<P> {
    /// The parts are there until drop; the gateway asks for entries that its own copy of the manifest lists.
    fn entry<'a, T: 'static, A: Send + 'static>(
        &'a self,
        list: impl FnOnce(&'a Handlers<P>) -> &'a [T],
        index: u32,
        call: impl FnOnce(&'a T, &'a Gateway<P>) -> FfiFuture<RResult<A, Fault>>,
    ) -> FfiFuture<RResult<A, Fault>> {
        let entry = self.handlers.get().and_then(|handlers| list(handlers).get(index as usize));
        match (entry, self.gateway.get()) {
            (Some(entry), Some(gateway)) => call(entry, gateway),
            _ => no_entry(),
        }
    }
}

fn no_entry<A: Send + 'static>() -> FfiFuture<RResult<A, Fault>> {
    std::future::ready(RResult::RErr(fence::error_fault("the plugin has no such entry"))).into_ffi()
}

impl<P: Plugin> PluginObject for Object<P> {
    fn call(&self, request: abi::Request) -> FfiFuture<RResult<abi::Response, Fault>> {
        let route = request.route;
        self.entry(|handlers| &handlers.routes, route, |handler, gateway| handler(gateway, request))
    }

    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>> {
        self.entry(|handlers| &handlers.jobs, job, |run, gateway| run(gateway))
    }

    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(|handlers| &handlers.contributions, contribution, |answer, gateway| answer(gateway, input))
    }

    fn chain_events(
        &self,
        sources: RVec<EventSource>,
        events: RVec<SubscribedEvent>,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<(), Fault>> {
        let tx = Tx::new(transaction);
        match (self.handlers.get(), self.gateway.get()) {
            (Some(handlers), Some(gateway)) => {
                chain::apply(gateway, handlers.subscriptions.clone(), sources, events, tx)
            }
            _ => no_entry(),
        }
    }

    fn stop(&self) -> FfiFuture<RResult<(), Fault>> {
        let Some(gateway) = self.gateway.get() else { return std::future::ready(RResult::ROk(())).into_ffi() };
        let stopping = gateway.clone();
        job::contained(gateway, "stop", move || async move {
            stopping.plugin().stop();
            Ok(())
        })
    }
}

/// Makes a library a plugin: `export_plugin!(Forum);` once, at the end of `src/lib.rs`.
///
/// Takes name, version and summary from the package, puts the stamp into the file and exports the two entry points.
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty) => {
        impl $crate::Identity for $plugin {
            const NAME: &'static str = env!("CARGO_PKG_NAME");
            const VERSION: &'static str = env!("CARGO_PKG_VERSION");
            const SUMMARY: &'static str = env!("CARGO_PKG_DESCRIPTION");
        }

        /// The plugin's entry points, for hosts that link it instead of loading it (tests).
        pub fn plugin_module() -> $crate::abi::PluginModule_Ref {
            use $crate::abi_stable::prefix_type::PrefixTypeTrait;
            let module = $crate::abi::PluginModule {
                manifest: $crate::object_manifest::<$plugin>,
                construct: $crate::object_new::<$plugin>,
            };
            module.leak_into_prefix()
        }

        $crate::__export_library!();
    };
}

/// The exported symbols, which need `unsafe` attributes; split off so that they stand in one place.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_library {
    () => {
        const _: () = {
            #[used]
            #[unsafe(link_section = ".gateway_plugin")]
            static STAMP: $crate::abi::Stamp =
                $crate::abi::Stamp::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));

            // What abi_stable's `#[export_root_module]` expands to, with paths that do not need the plugin to depend
            // on abi_stable itself, and under a name of the plugin's own, so that one program can link several.
            #[unsafe(export_name = concat!("gateway_plugin_", env!("CARGO_PKG_NAME")))]
            static ROOT: $crate::abi_stable::library::LibHeader = {
                extern "C" fn load() -> $crate::abi_stable::library::RootModuleResult {
                    $crate::abi_stable::library::__call_root_module_loader(plugin_module)
                }
                // SAFETY: `load` returns the root module of exactly this type.
                unsafe {
                    $crate::abi_stable::library::LibHeader::from_constructor::<$crate::abi::PluginModule_Ref>(
                        load,
                        $crate::abi_stable::library::CheckTypeLayout::Yes,
                    )
                }
            };
        };
    };
}
