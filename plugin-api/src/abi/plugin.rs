//! What a plugin offers to the gateway: its two entry points and the object behind them.

use super::{Fault, FfiBytes, HostBox, Request, Response, TransactionBox};
use abi_stable::{
    StableAbi, declare_root_module_statics,
    library::RootModule,
    package_version_strings, sabi_trait,
    sabi_types::VersionStrings,
    std_types::{RBox, RResult, RString, RVec},
};
use async_ffi::FfiFuture;

/// What the events of one subscription have in common. The members are those of [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi)]
pub struct EventSource {
    /// Place of the subscription in the manifest.
    pub subscription: u32,
    pub chain: RString,
    pub contract: RString,
    pub address: [u8; 20],
    pub event: RString,
}

/// A chain event on its way to a plugin. The members are those of [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi)]
pub struct SubscribedEvent {
    /// Place of its source in the list that comes with it.
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
    /// Serves one request. The future is dropped when the time limit runs out or the caller leaves.
    fn call(&self, request: Request) -> FfiFuture<RResult<Response, Fault>>;
    /// Runs one job once.
    fn run_job(&self, job: u32) -> FfiFuture<RResult<(), Fault>>;
    /// Answers one contribution to an extension point: JSON in, JSON out.
    fn contribute(&self, contribution: u32, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>>;
    /// Applies chain events in their order inside the index's transaction; before each, the plugin calls `begin_event` of the
    /// transaction. The events name their `sources` by their places there.
    fn chain_events(
        &self,
        sources: RVec<EventSource>,
        events: RVec<SubscribedEvent>,
        transaction: TransactionBox,
    ) -> FfiFuture<RResult<(), Fault>>;
    /// The last call: requests are drained, jobs are over.
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
    /// The JSON [`crate::manifest::Manifest`]; needs no configuration and has no effect.
    pub manifest: extern "C" fn() -> RResult<FfiBytes, Fault>,
    /// Makes the plugin; `config` is the JSON object of `[plugins.<name>]`.
    #[sabi(last_prefix_field)]
    pub construct: extern "C" fn(host: HostBox, config: FfiBytes) -> RResult<PluginBox, Fault>,
}

impl RootModule for PluginModule_Ref {
    declare_root_module_statics! {PluginModule_Ref}
    const BASE_NAME: &'static str = "gateway_plugin";
    const NAME: &'static str = "gateway plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}
