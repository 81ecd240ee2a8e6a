//! What the plugins that serve contribute to the extension points of each other and of the gateway.

use super::{
    authors::AuthorRecords,
    cache::ContributionCache,
    collect::{Contribution, collect, collect_from},
};
use crate::plugin::ActivePlugins;
use bytes::Bytes;
use gateway_storage::Database;
use plugin_api::{Address, abi::FfiBytes};
use std::sync::Arc;

pub struct ExtensionPoints {
    active: ActivePlugins,
    /// Its revisions say how long a contribution can be used again.
    database: Database,
    cache: ContributionCache,
    authors: AuthorRecords,
}

impl ExtensionPoints {
    pub fn new(active: ActivePlugins, database: Database, cache_bytes_max: usize, network_name: &str) -> Self {
        let (cache, authors) = (ContributionCache::new(cache_bytes_max), AuthorRecords::new(network_name));
        Self { active, database, cache, authors }
    }

    /// What the plugins contribute to an extension point, by their names.
    pub async fn collect(&self, point: &str, input: impl Into<Bytes>) -> Vec<Contribution> {
        collect(&self.active.list(), point, &input.into()).await
    }

    /// What one plugin contributes.
    pub async fn collect_from(&self, plugin: &str, point: &str, input: impl Into<Bytes>) -> Option<Contribution> {
        collect_from(&self.active.list(), plugin, point, &input.into()).await
    }

    /// As [`Self::collect`], in JSON and from the cache where possible.
    pub(crate) async fn collect_cached(&self, point: &str, input: Bytes) -> Result<FfiBytes, serde_json::Error> {
        let plugins = self.active.list();
        let revisions =
            if self.cache.may_have(&plugins, point) { self.database.current_revisions().await } else { None };
        self.cache.collect(&plugins, revisions, point, input).await
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
