//! What the plugins that serve contribute to the extension points of each other and of the gateway.

use super::{
    authors::AuthorRecords,
    cache::ContributionCache,
    collect::{Contribution, collect, collect_from},
};
use crate::plugin::ActivePlugins;
use bytes::Bytes;
use gateway_storage::Database;
use plugin_api::{Address, abi::FfiBytes, point::Point};
use serde::{Serialize, de::DeserializeOwned};
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

    /// What the plugins contribute to a point of the gateway, by their names. What has another shape is left out, as their fault.
    pub async fn collect_decoded<I: Serialize, O: DeserializeOwned>(
        &self,
        point: Point<I, O>,
        input: &I,
    ) -> Vec<(String, O)> {
        let parts = self.collect(point.name(), to_json(input)).await;
        parts.iter().filter_map(|part| Some((part.plugin.name().to_owned(), part.decode(point)?))).collect()
    }

    /// What one plugin contributes to a point of the gateway.
    pub async fn collect_decoded_from<I: Serialize, O: DeserializeOwned>(
        &self,
        plugin: &str,
        point: Point<I, O>,
        input: &I,
    ) -> Option<O> {
        let part = collect_from(&self.active.list(), plugin, point.name(), &to_json(input)).await?;
        part.decode(point)
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

fn to_json(input: &impl Serialize) -> Bytes {
    serde_json::to_vec(input).unwrap_or_default().into()
}
