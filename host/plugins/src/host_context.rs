//! The parts of the host that implement the capabilities of the ABI.

use super::{
    ActivePlugins, PluginPresences,
    contributions::{self, AuthorRecords, Contribution, ContributionCache},
};
use bytes::Bytes;
use gateway_activity::ActivityLog;
use gateway_chain::Chains;
use gateway_clock::Clock;
use gateway_egress::Egress;
use gateway_jobs::JobStore;
use gateway_queue::QueueWakes;
use gateway_secrets::Secrets;
use gateway_signers::Signers;
use gateway_storage::Database;
use gateway_telemetry::Usage;
use gateway_tx::Journal;
use plugin_api::{Address, abi::FfiBytes};
use std::{path::PathBuf, sync::Arc};

/// Shared by all plugins of a gateway.
pub struct HostContext {
    /// Where this gateway keeps files.
    pub data_dir: PathBuf,
    pub clock: Clock,
    pub database: Database,
    pub activity: ActivityLog,
    /// `None` on a machine without root certificates: the capability `fetch` then reports that.
    pub egress: Option<Egress>,
    pub chains: Arc<Chains>,
    pub signers: Arc<Signers>,
    pub secrets: Secrets,
    pub journal: Arc<Journal>,
    pub jobs: JobStore,
    pub queues: QueueWakes,
    pub usage: Usage,
    /// [`plugin_api::manifest::Environment`] as JSON, which plugins borrow.
    pub environment_json: String,
    pub active: ActivePlugins,
    pub presences: PluginPresences,
    pub contributions: ContributionCache,
    pub authors: AuthorRecords,
}

impl HostContext {
    /// What the plugins contribute to an extension point, by their names.
    pub async fn collect(&self, point: &str, input: impl Into<Bytes>) -> Vec<Contribution> {
        contributions::collect(&self.active.list(), point, &input.into()).await
    }

    /// What one plugin contributes.
    pub async fn collect_from(&self, plugin: &str, point: &str, input: impl Into<Bytes>) -> Option<Contribution> {
        contributions::collect_from(&self.active.list(), plugin, point, &input.into()).await
    }

    /// As [`Self::collect`], in JSON and from the cache where possible.
    pub async fn collect_cached(&self, point: &str, input: Bytes) -> Result<FfiBytes, serde_json::Error> {
        let plugins = self.active.list();
        let revisions =
            if self.contributions.may_have(&plugins, point) { self.database.current_revisions().await } else { None };
        self.contributions.collect(&plugins, revisions, point, input).await
    }

    /// The record `{address, name, agentId}` of each address, as JSON: see [`AuthorRecords::get`].
    pub async fn authors(&self, addresses: &[Address]) -> Vec<Arc<str>> {
        if addresses.is_empty() {
            return Vec::new();
        }
        // To ask whether cached records are current would take as long as to ask for the one that is not among them.
        let asks_directly = self.database.has_to_ask_for_revisions() && self.authors.lacks_the_only(addresses);
        let revisions = if asks_directly { None } else { self.database.current_revisions().await };
        self.authors.get(&self.active.list(), revisions, addresses).await
    }
}
