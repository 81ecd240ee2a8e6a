//! Deletes payloads that nothing references.
//!
//! The rule: a payload is deleted only after every plugin that ever reported references has said twice, at least a while apart,
//! that it does not reference this one. Between the two calls `payloads_v1` hides the payload: no new reference can begin, and a
//! transaction that began before is committed by the second call.

use crate::{
    Payloads,
    model::DAY_S,
    store::{payloads, pruning},
};
use plugin_api::{Hash256, HostError, Job, PluginContext, Tx, point};
use std::{collections::BTreeSet, time::Duration};

pub const INTERVAL_S: i64 = 60 * 60;

/// Longer than any transaction can last.
const RECHECK_AFTER_S: i64 = 10 * 60;

/// Payloads of each kind per call.
const CANDIDATES_MAX: u32 = 500;

/// Payloads deleted in one transaction: each may have 256 KiB.
const DELETED_MAX: usize = 50;

pub fn job() -> Job<Payloads> {
    Job::every("prune_payloads", Duration::from_secs(INTERVAL_S.unsigned_abs()), prune_payloads)
        .timeout(Duration::from_secs(10 * 60))
}

/// Payloads that were last used or marked for deletion before these times are due.
#[derive(Clone, Copy)]
pub struct Deadlines {
    pub unreferenced_until_s: i64,
    pub marked_until_s: i64,
}

impl Deadlines {
    pub fn at(now_s: i64, keep_days: u32) -> Self {
        let unreferenced_until_s = now_s - i64::from(keep_days) * DAY_S;
        Self { unreferenced_until_s, marked_until_s: now_s - RECHECK_AFTER_S }
    }
}

async fn prune_payloads(cx: PluginContext<Payloads>) -> Result<(), HostError> {
    let delete_uploads = async |tx: &Tx| tx.execute(pruning::delete_uploads_before(tx.now_s().div_euclid(DAY_S))).await;
    cx.write(delete_uploads).await?;
    let deadlines = Deadlines::at(cx.now_s(), cx.plugin().config.keep_days);
    let mut deleted = 0;
    loop {
        let db = cx.db();
        let marked = pruning::marked(&db, deadlines.marked_until_s, CANDIDATES_MAX).await?;
        let unreferenced = pruning::unreferenced(&db, deadlines.unreferenced_until_s, CANDIDATES_MAX).await?;
        // Called also without candidates, to learn which plugins respond.
        let Some(referenced) = collect_references(&cx, marked.iter().chain(&unreferenced)).await? else { break };
        if marked.is_empty() && unreferenced.is_empty() {
            break;
        }
        deleted += apply_references(&cx, deadlines, &referenced, marked, unreferenced).await?;
    }
    if deleted > 0 {
        cx.info(&format!("deleted {deleted} payloads that nobody mentions"));
    }
    Ok(())
}

/// Those of the candidates that plugins reference; `None` when a plugin that should respond does not.
async fn collect_references(
    cx: &PluginContext<Payloads>,
    hashes: impl Iterator<Item = &Hash256>,
) -> Result<Option<BTreeSet<Hash256>>, HostError> {
    let input = point::PayloadReferencesInput { hashes: hashes.copied().collect() };
    let contributions = cx.collect(point::PAYLOAD_REFERENCES, &input).await?;
    let known = pruning::referencing_plugins(&cx.db()).await?;
    let responded: BTreeSet<&String> = contributions.iter().map(|(plugin, _)| plugin).collect();
    let gone = &cx.plugin().config.gone;
    let is_missing = |plugin: &&String| !responded.contains(plugin) && !gone.contains(plugin);
    let missing: Vec<&str> = known.iter().filter(is_missing).map(String::as_str).collect();
    let (is_complete, waits_for) = (missing.is_empty(), missing.join(","));

    let new: Vec<String> = responded.into_iter().filter(|plugin| !known.contains(*plugin)).cloned().collect();
    cx.write(async move |tx| {
        for plugin in &new {
            tx.defer(pruning::add_referencing_plugin(plugin))?;
        }
        tx.execute(pruning::set_waits_for(&waits_for)).await
    })
    .await?;
    Ok(is_complete.then(|| contributions.into_iter().flat_map(|(_, referenced)| referenced).collect()))
}

/// Keeps what is referenced, marks or deletes the rest; returns the number of deleted payloads.
async fn apply_references(
    cx: &PluginContext<Payloads>,
    Deadlines { unreferenced_until_s, marked_until_s }: Deadlines,
    referenced: &BTreeSet<Hash256>,
    marked: Vec<Hash256>,
    unreferenced: Vec<Hash256>,
) -> Result<i64, HostError> {
    let is_referenced = |hash: &Hash256| referenced.contains(hash);
    let (renewed, to_delete): (Vec<Hash256>, Vec<Hash256>) = marked.into_iter().partition(is_referenced);
    let (also_renewed, to_mark): (Vec<Hash256>, Vec<Hash256>) = unreferenced.into_iter().partition(is_referenced);
    cx.write(async move |tx| {
        let renew = renewed.iter().chain(&also_renewed).map(|hash| payloads::renew(*hash, tx.now_s()));
        let mark = to_mark.iter().map(|hash| pruning::mark_for_deletion(*hash, unreferenced_until_s, tx.now_s()));
        tx.batch(renew.chain(mark).collect()).await
    })
    .await?;
    let mut deleted = 0;
    for some in to_delete.chunks(DELETED_MAX) {
        let some = some.to_vec();
        deleted += cx.write(async move |tx| pruning::delete(tx, &some, marked_until_s).await).await?;
    }
    Ok(deleted)
}
