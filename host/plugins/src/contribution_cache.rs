//! What plugins contributed to a point, kept for as long as the data it was made from stays as it was: the names of the same
//! authors are asked for with every list.
//!
//! The rule is that of kept answers (`http/cache.rs`): a contribution is used again only while every source it was made from
//! is unchanged, and the same plugins serve.

use super::{ActivePlugin, active};
use crate::HostContext;
use bytes::Bytes;
use gateway_storage::Revision;
use gateway_storage::read_tracking::{self, ReadDependencies};
use plugin_api::abi::FfiBytes;
use std::sync::{Arc, Weak};

type Serving = Vec<Arc<ActivePlugin>>;

/// Of the memory for kept answers, contributions take as much again as this part.
const PART: u64 = 8;
/// An entry without its bytes, roughly.
const ENTRY_BYTES: usize = 512;

pub struct ContributionCache {
    /// By point and input.
    parts: moka::sync::Cache<Arc<[u8]>, Arc<Kept>>,
}

struct Kept {
    serving: Weak<Serving>,
    sources: ReadDependencies,
    since: Revision,
    parts: Bytes,
}

impl ContributionCache {
    pub fn new(cache_bytes_max: usize) -> Self {
        let weigh = |key: &Arc<[u8]>, kept: &Arc<Kept>| {
            u32::try_from(ENTRY_BYTES + key.len() + kept.parts.len()).unwrap_or(u32::MAX)
        };
        let bytes_max = cache_bytes_max as u64 / PART;
        let parts = moka::sync::Cache::builder().max_capacity(bytes_max).weigher(weigh).build();
        Self { parts }
    }

    fn get(&self, question: &[u8], serving: &Arc<Serving>) -> Option<Arc<Kept>> {
        let kept = self.parts.get(question)?;
        // The weak reference keeps the address from being used again.
        let is_current = std::ptr::eq(kept.serving.as_ptr(), Arc::as_ptr(serving));
        (is_current && kept.sources.are_unchanged_since(kept.since)).then_some(kept)
    }
}

/// As [`active::collect`], in JSON.
pub async fn collect_json(host: &Arc<HostContext>, point: &str, input: &[u8]) -> Result<FfiBytes, serde_json::Error> {
    let serving = host.active.list();
    let contributes = |plugin: &Arc<ActivePlugin>| plugin.manifest.contributions.iter().any(|spec| spec.point == point);
    if !serving.iter().any(contributes) {
        return Ok(FfiBytes::from_static(b"[]"));
    }
    let Some(revisions) = host.database.revisions() else { return make(host, point, input).await.map(Vec::into) };
    let question = [point.as_bytes(), input].join(&0);
    if let Some(kept) = host.contributions.get(&question, &serving) {
        read_tracking::record(|_| kept.sources.clone());
        return Ok(FfiBytes::from_owner(kept.parts.clone()));
    }
    let (parts, sources) = read_tracking::track(revisions, ReadDependencies::default(), make(host, point, input)).await;
    let parts = Bytes::from(parts?);
    // What it was made from is what the answer is made from that asks for it.
    match sources {
        Some((sources, since)) => {
            read_tracking::record(|_| sources.clone());
            let kept = Kept { serving: Arc::downgrade(&serving), sources, since, parts: parts.clone() };
            host.contributions.parts.insert(question.into(), Arc::new(kept));
        }
        None => read_tracking::mark_uncacheable(),
    }
    Ok(FfiBytes::from_owner(parts))
}

async fn make(host: &Arc<HostContext>, point: &str, input: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&active::collect(host, point, input).await)
}
