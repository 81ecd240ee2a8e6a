//! The macro [`crate::export_plugin!`] and the object that it exports.

use super::{
    ConfigError, HostHandle, Plugin, PluginContext, Tx,
    answer::ServiceFn,
    chain,
    definition::Handlers,
    fence::{self, ContainedDrop},
    job,
};
use crate::abi::{
    self, EventSource, Fault, FaultKind, FfiBytes, Frame, HostBox, PluginBox, PluginModule, PluginModule_Ref,
    PluginObject, PluginObject_TO, Rows, SubscribedEvent, TransactionBox,
};
use abi_stable::{
    erased_types::TD_Opaque,
    prefix_type::PrefixTypeTrait as _,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};

type FaultReporter = Box<dyn Fn(Fault) + Send + Sync>;

struct ExportedPlugin<P> {
    handlers: ContainedDrop<Handlers<P>, FaultReporter>,
    cx: ContainedDrop<PluginContext<P>, FaultReporter>,
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
    fence::contain(move || construct::<P>(host, &config)).and_then(|plugin| plugin).into()
}

/// The entry points of a plugin that is linked instead of loaded.
pub fn object_module<P: Plugin>() -> PluginModule_Ref {
    PluginModule { manifest: object_manifest::<P>, construct: object_new::<P> }.leak_into_prefix()
}

fn construct<P: Plugin>(host: HostBox, config: &[u8]) -> Result<PluginBox, Fault> {
    let host = HostHandle::new(host)?;
    let config = serde_json::from_slice(config).map_err(|error| config_fault(error.to_string()))?;
    let plugin = P::new(config, &host).map_err(|ConfigError(reason)| config_fault(reason))?;
    let handlers = P::define().build().1;
    let reporter = host.clone();
    let cx = PluginContext::new(plugin, host.clone());
    let object = ExportedPlugin {
        handlers: ContainedDrop::new(handlers, Box::new(move |fault| reporter.report("drop", fault))),
        cx: ContainedDrop::new(cx, Box::new(move |fault| host.report("drop", fault))),
    };
    Ok(PluginObject_TO::from_value(object, TD_Opaque))
}

fn config_fault(reason: String) -> Fault {
    Fault { kind: FaultKind::Config, message: reason.into(), location: RString::new() }
}

impl<P: Plugin> ExportedPlugin<P> {
    /// Calls the entry at `index` of a list of the manifest. Handlers and context exist until the object is dropped.
    fn entry<'a, T: 'static, A: Send + 'static>(
        &'a self,
        list: impl FnOnce(&'a Handlers<P>) -> &'a [T],
        index: u32,
        call: impl FnOnce(&'a T, &'a PluginContext<P>) -> FfiFuture<RResult<A, Fault>>,
    ) -> FfiFuture<RResult<A, Fault>> {
        let entry = self.handlers.get().and_then(|handlers| list(handlers).get(index as usize));
        match (entry, self.cx.get()) {
            (Some(entry), Some(cx)) => call(entry, cx),
            _ => no_entry(),
        }
    }
}

fn no_entry<A: Send + 'static>() -> FfiFuture<RResult<A, Fault>> {
    std::future::ready(RResult::RErr(fence::error_fault("the plugin has no such entry"))).into_ffi()
}

impl<P: Plugin> PluginObject for ExportedPlugin<P> {
    fn call(&self, request: abi::Request) -> FfiFuture<RResult<abi::Response, Fault>> {
        let route = request.route;
        self.entry(|handlers| &handlers.routes, route, |handler, cx| handler(cx, request))
    }

    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>> {
        self.entry(|handlers| &handlers.jobs, job, |run, cx| run(cx))
    }

    fn run_task(&self, queue: u32, task: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(|handlers| &handlers.queues, queue, |queue, cx| (queue.run)(cx, task))
    }

    fn queue_limits(&self, queue: u32) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(
            |handlers| &handlers.queues,
            queue,
            |queue, cx| {
                let limits = fence::contain(|| serde_json::to_vec(&(queue.limits)(cx.plugin())));
                let limits = limits.and_then(|limits| limits.map_err(fence::error_fault));
                std::future::ready(limits.map(FfiBytes::from).into()).into_ffi()
            },
        )
    }

    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(|handlers| &handlers.contributions, contribution, |answer, cx| answer(cx, input))
    }

    fn call_service(&self, service: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(
            |handlers| &handlers.services,
            service,
            |service, cx| match service {
                ServiceFn::Outside(answer) => answer(cx, input),
                ServiceFn::InWrite(_) => no_entry(),
            },
        )
    }

    fn call_service_in_write(
        &self,
        service: u32,
        input: FfiBytes,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<FfiBytes, Fault>> {
        self.entry(
            |handlers| &handlers.services,
            service,
            |service, cx| match service {
                ServiceFn::InWrite(answer) => answer(cx, input, Tx::new(transaction, cx.now_ms())),
                ServiceFn::Outside(_) => no_entry(),
            },
        )
    }

    fn price(&self, request: abi::Request) -> FfiFuture<RResult<abi::Response, Fault>> {
        let route = request.route;
        self.entry(
            |handlers| &handlers.prices,
            route,
            |price, cx| price.as_ref().map_or_else(no_entry, |price| price(cx, request)),
        )
    }

    fn render(&self, topic: u32, rows: Rows) -> FfiFuture<RResult<RVec<Frame>, Fault>> {
        self.entry(|handlers| &handlers.topics, topic, |render, cx| render(cx, rows))
    }

    fn chain_events(
        &self,
        sources: RVec<EventSource>,
        events: RVec<SubscribedEvent>,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<(), Fault>> {
        match (self.handlers.get(), self.cx.get()) {
            (Some(handlers), Some(cx)) => {
                let tx = Tx::new(transaction, cx.now_ms());
                chain::dispatch(cx, handlers.subscriptions.clone(), sources, events, tx)
            }
            _ => no_entry(),
        }
    }

    fn stop(&self) -> FfiFuture<RResult<(), Fault>> {
        let Some(cx) = self.cx.get() else { return std::future::ready(RResult::ROk(())).into_ffi() };
        let stopping = cx.clone();
        job::contained(cx, "stop", move || async move {
            stopping.plugin().stop();
            Ok(())
        })
    }
}

/// Turns a library into a plugin: `export_plugin!(Forum);` once, at the end of `src/lib.rs`.
///
/// Takes name, version and summary from the package, puts the stamp into the file and exports the two entry points.
///
/// ```ignore (a package of its own: its name becomes the plugin's)
/// use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, export_plugin};
///
/// struct Notes;
///
/// impl Plugin for Notes {
///     type Config = NoConfig;
///
///     fn define() -> Definition<Self> {
///         Definition::new()
///     }
///
///     fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
///         Ok(Self)
///     }
/// }
///
/// // Name, version and summary come from Cargo.toml.
/// export_plugin!(Notes);
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ty) => {
        impl $crate::host::Identity for $plugin {
            const NAME: &'static str = env!("CARGO_PKG_NAME");
            const VERSION: &'static str = env!("CARGO_PKG_VERSION");
            const SUMMARY: &'static str = env!("CARGO_PKG_DESCRIPTION");
        }

        /// The plugin's entry points, for hosts that link it instead of loading it (tests).
        pub fn plugin_module() -> $crate::abi::PluginModule_Ref {
            $crate::host::object_module::<$plugin>()
        }

        $crate::__export_library!();
    };
}

/// The exported symbols: the only place with `unsafe` attributes.
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
