//! The interface of a plugin: its two entry points, and the object that they construct.

use super::{Fault, FfiBytes, HostBox, Request, Response, TransactionBox};
use abi_stable::{
    StableAbi, declare_root_module_statics,
    library::RootModule,
    package_version_strings, sabi_trait,
    sabi_types::VersionStrings,
    std_types::{RBox, RResult, RString, RVec},
};
use async_ffi::FfiFuture;

/// The members that all events of one subscription share; see [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi)]
pub struct EventSource {
    /// Index of the subscription in the manifest.
    pub subscription: u32,
    pub chain: RString,
    pub contract: RString,
    pub address: [u8; 20],
    pub event: RString,
}

/// A chain event for a plugin; for the members see [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi)]
pub struct SubscribedEvent {
    /// Index of its source in the list of sources of the call.
    pub source: u32,
    pub block: u64,
    pub block_hash: [u8; 32],
    pub time_s: i64,
    pub tx: [u8; 32],
    pub tx_index: u64,
    pub log_index: u64,
    /// A JSON object.
    pub args: FfiBytes,
}

/// A constructed plugin. Indices point into the lists of the manifest.
#[sabi_trait]
pub trait PluginObject: Send + Sync {
    /// Serves one request. The gateway drops the future when the time limit is over or the client disconnects.
    fn call(&self, request: Request) -> FfiFuture<RResult<Response, Fault>>;
    /// Runs one job once.
    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>>;
    /// Computes one contribution to an extension point: JSON in, JSON out.
    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>>;
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
}
pub type PluginBox = PluginObject_TO<'static, RBox<()>>;

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
