//! Collected contributions in memory, each until the data it was made from changes: every list of records collects the
//! names of the same authors.

use super::{
    cache_source::{CacheSource, track},
    collect::collect,
};
use crate::{doorkeeper::Doorkeeper, plugin::ActiveSet};
use bytes::Bytes;
use gateway_storage::{Revisions, read_tracking};
use plugin_api::abi::FfiBytes;
use std::sync::Arc;

/// Contributions get one part in this many of the memory for cached responses, in addition to it.
const SHARE: u64 = 8;
/// The size of an entry without its bytes, roughly.
const ENTRY_BYTES: usize = 512;

pub(crate) struct ContributionCache {
    /// By point and input.
    entries: moka::sync::Cache<Arc<[u8]>, Arc<CacheEntry>>,
    doorkeeper: Doorkeeper,
    is_on: bool,
}

struct CacheEntry {
    source: CacheSource,
    contributions: Bytes,
}

impl ContributionCache {
    pub(crate) fn new(cache_bytes_max: usize) -> Self {
        let weigh = |key: &Arc<[u8]>, entry: &Arc<CacheEntry>| {
            u32::try_from(ENTRY_BYTES + key.len() + entry.contributions.len()).unwrap_or(u32::MAX)
        };
        let bytes_max = cache_bytes_max as u64 / SHARE;
        let entries = moka::sync::Cache::builder().max_capacity(bytes_max).weigher(weigh).build();
        Self { entries, doorkeeper: Doorkeeper::default(), is_on: bytes_max > 0 }
    }

    /// Whether contributions to this point may be cached: only then [`Self::collect`] needs the revisions.
    pub(crate) fn may_have(&self, plugins: &ActiveSet, point: &str) -> bool {
        self.is_on && !plugins.contributors(point).is_empty()
    }

    /// As [`collect`], in JSON. Without `revisions` nothing is cached.
    pub(crate) async fn collect(
        &self,
        plugins: &Arc<ActiveSet>,
        revisions: Option<&Arc<Revisions>>,
        point: &str,
        input: Bytes,
    ) -> Result<FfiBytes, serde_json::Error> {
        if plugins.contributors(point).is_empty() {
            return Ok(FfiBytes::from_static(b"[]"));
        }
        let Some(revisions) = revisions else { return collect_json(plugins, point, &input).await.map(Vec::into) };
        let key = [point.as_bytes(), &input].join(&0);
        if let Some(entry) = self.get(&key, plugins) {
            entry.source.record();
            return Ok(FfiBytes::from_owner(entry.contributions.clone()));
        }
        if !self.doorkeeper.has_seen(&key) {
            return collect_json(plugins, point, &input).await.map(Vec::into);
        }
        let (contributions, source) = track(plugins, revisions, collect_json(plugins, point, &input)).await;
        let contributions = Bytes::from(contributions?);
        if let Some(source) = source {
            let entry = CacheEntry { source, contributions: contributions.clone() };
            self.entries.insert(key.into(), Arc::new(entry));
        }
        Ok(FfiBytes::from_owner(contributions))
    }

    fn get(&self, key: &[u8], plugins: &Arc<ActiveSet>) -> Option<Arc<CacheEntry>> {
        self.entries.get(key).filter(|entry| entry.source.is_current(plugins))
    }
}

/// A plugin reads them: it is given none that would fail it, and the fault is that of the contributor.
async fn collect_json(plugins: &ActiveSet, point: &str, input: &Bytes) -> Result<Vec<u8>, serde_json::Error> {
    let mut contributions = collect(plugins, point, input).await;
    let count = contributions.len();
    contributions.retain(|contribution| contribution.has_shape_of(point));
    if contributions.len() < count {
        read_tracking::mark_uncacheable();
    }
    serde_json::to_vec(&contributions)
}
