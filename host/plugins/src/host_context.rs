//! What the host lends to plugins: each capability of the ABI is answered from one of these parts.

use super::{ContributionCache, active::ActivePlugins};
use gateway_activity::ActivityLog;
use gateway_chain::Chains;
use gateway_clock::Clock;
use gateway_egress::Egress;
use gateway_signers::Signers;
use gateway_storage::Database;
use gateway_telemetry::Usage;
use gateway_tx::Journal;
use std::sync::Arc;

/// Shared by all plugins of a gateway.
pub struct HostContext {
    pub clock: Clock,
    pub database: Database,
    pub activity: ActivityLog,
    /// `None` on a machine without root certificates: the capability `fetch` then reports that.
    pub egress: Option<Egress>,
    pub chains: Arc<Chains>,
    pub signers: Arc<Signers>,
    pub journal: Arc<Journal>,
    pub usage: Usage,
    /// [`plugin_api::manifest::Environment`] as JSON, which plugins borrow.
    pub environment_json: String,
    pub active: ActivePlugins,
    pub contributions: ContributionCache,
}
