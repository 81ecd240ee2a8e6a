//! What every part of the house shares. Built once by `boot`, handed around by reference.

use crate::{
    activity::{ActivityLog, StreamLimits},
    chain::{Chains, index::Indexes},
    clock::Clock,
    config::Config,
    egress::Egress,
    envelope::Brand,
    operators::Operators,
    plugins::{FenceRequest, KeptContributions, Serving},
    signers::Signers,
    storage::Database,
    telemetry::Usage,
    tx::Journal,
};
use plugin_api::manifest::Environment;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct Services {
    pub config: Config,
    pub clock: Clock,
    pub brand: Brand,
    pub environment: Environment,
    /// [`Self::environment`] as JSON, which plugins borrow.
    pub environment_json: String,
    pub database: Database,
    pub activity: ActivityLog,
    pub operators: Operators,
    pub streams: StreamLimits,
    /// `None` on a machine without root certificates: what needs it says so.
    pub egress: Option<Egress>,
    pub chains: Arc<Chains>,
    pub signers: Arc<Signers>,
    pub tx: Journal,
    pub indexes: Indexes,
    pub usage: Usage,
    /// The plugins that serve right now.
    pub serving: Serving,
    pub contributions: KeptContributions,
    pub fence_requests: mpsc::UnboundedSender<FenceRequest>,
    /// Unix milliseconds.
    pub started_ms: i64,
}

pub type SharedServices = Arc<Services>;
