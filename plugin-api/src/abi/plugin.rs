//! The interface of a plugin: its two entry points, and the object that they construct.

use super::{EventSource, Fault, FfiBytes, Frame, HostBox, Request, Response, Rows, SubscribedEvent, TransactionBox};
use abi_stable::{
    StableAbi, declare_root_module_statics,
    library::RootModule,
    package_version_strings, sabi_trait,
    sabi_types::VersionStrings,
    std_types::{RBox, RResult, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};

/// A constructed plugin. Indices point into the lists of the manifest.
#[sabi_trait]
pub trait PluginObject: Send + Sync {
    /// Serves one request. The gateway drops the future when the time limit is over or the client disconnects.
    fn call(&self, request: Request) -> FfiFuture<RResult<Response, Fault>>;
    /// Runs one job once.
    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>>;
    /// Computes one contribution to an extension point: JSON in, JSON out.
    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>>;
    /// Answers one call of a service that the plugin provides: JSON in, JSON out.
    fn call_service(&self, service: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>>;
    /// Renders frames of the topic at this index: rows of `host_activity_v1` in, in ascending order.
    fn render(&self, topic: u32, rows: Rows) -> FfiFuture<RResult<RVec<Frame>, Fault>>;
    /// Applies chain events in order inside the index's transaction; before each one, the plugin calls `begin_event` of the
    /// transaction. `SubscribedEvent::source` is an index into `sources`.
    fn chain_events(
        &self,
        sources: RVec<EventSource>,
        events: RVec<SubscribedEvent>,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<(), Fault>>;
    /// The last call: requests are drained and jobs have ended.
    #[sabi(last_prefix_field)]
    fn stop(&self) -> FfiFuture<RResult<(), Fault>>;
    /// What a request costs, of a route with [`crate::manifest::RouteSpec::price`]: status 200 and a JSON [`crate::payment::Price`], or
    /// the response that the client gets in place of the handler's. Must not write.
    fn price(&self, _: Request) -> FfiFuture<RResult<Response, Fault>> {
        no_such_call("price")
    }
    /// As `call_service`, of a service with [`crate::manifest::ServiceSpec::in_write`]: within the caller's transaction, in which the
    /// provider reaches its own tables. The provider does not commit, and may be called again with another transaction.
    fn call_service_in_write(&self, _: u32, _: FfiBytes, _: TransactionBox) -> FfiFuture<RResult<FfiBytes, Fault>> {
        no_such_call("call_service_in_write")
    }
    /// Handles a task of a queue: a JSON [`crate::manifest::QueueTask`] in, a [`crate::manifest::TaskEnd`] out.
    fn run_task(&self, _: u32, _: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> {
        no_such_call("run_task")
    }
    /// How the tasks of a queue are run, a JSON [`crate::manifest::QueueLimits`]: asked once, before the first task.
    fn queue_limits(&self, _: u32) -> FfiFuture<RResult<FfiBytes, Fault>> {
        no_such_call("queue_limits")
    }
}
pub type PluginBox = PluginObject_TO<'static, RBox<()>>;

/// The answer of a plugin that was compiled before the gateway knew this call, which its manifest does not declare either.
fn no_such_call<T: Send + 'static>(call: &str) -> FfiFuture<RResult<T, Fault>> {
    let message = format!("the plugin does not know the call {call}").into();
    let fault = Fault { kind: super::FaultKind::Error, message, location: Default::default() };
    std::future::ready(RResult::RErr(fault)).into_ffi()
}

/// The root of a plugin library.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModule_Ref)))]
#[sabi(missing_field(panic))]
pub struct PluginModule {
    /// The JSON [`crate::manifest::Manifest`]; needs no configuration and has no side effect.
    pub manifest: extern "C" fn() -> RResult<FfiBytes, Fault>,
    /// Constructs the plugin; `config` is the JSON object of `[plugins.<name>]`.
    #[sabi(last_prefix_field)]
    pub construct: extern "C" fn(host: HostBox, config: FfiBytes) -> RResult<PluginBox, Fault>,
}

impl RootModule for PluginModule_Ref {
    declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "gateway_plugin";
    const NAME: &'static str = "gateway plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
