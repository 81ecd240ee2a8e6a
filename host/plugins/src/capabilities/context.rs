//! What the capabilities of plugins are implemented with.

use super::presences::PluginPresences;
use crate::{contributions::ExtensionPoints, transaction::TransactionContext};
use gateway_chain::Chains;
use gateway_egress::Egress;
use gateway_jobs::JobStore;
use gateway_secrets::Secrets;
use gateway_signers::Signers;
use gateway_telemetry::Usage;
use std::{path::PathBuf, sync::Arc};

/// Shared by the capabilities of all plugins. What starts plugins holds it; what needs a part of it is given that part.
pub struct CapabilityContext {
    pub transactions: Arc<TransactionContext>,
    pub extension_points: Arc<ExtensionPoints>,
    pub presences: PluginPresences,
    /// Where this gateway keeps files.
    pub data_dir: PathBuf,
    /// `None` on a machine without root certificates: the capability `fetch` then reports that.
    pub egress: Option<Egress>,
    pub chains: Arc<Chains>,
    pub signers: Arc<Signers>,
    pub secrets: Arc<Secrets>,
    pub jobs: JobStore,
    pub usage: Arc<Usage>,
    /// [`plugin_api::manifest::Environment`] as JSON, which plugins borrow.
    pub environment_json: String,
}
