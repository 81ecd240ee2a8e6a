//! Deletes payloads that nothing references.
//!
//! The rule: a payload is deleted only after every plugin that ever reported references has said twice, at least a while apart,
//! that it does not reference this one. Between the two calls `payloads_v1` hides the payload: no new reference can begin, and a
//! transaction that began before is committed by the second call.

use crate::{
    Payloads,
    model::DAY_S,
    store::{pruning, totals},
};
use plugin_api::{
    Hash256, HostError, Job, PluginContext, Query as _,
    point::{self, PayloadReferencesInput},
};
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
    let now_s = cx.now_s();
    let tx = cx.begin();
    tx.run(pruning::delete_uploads_before(now_s.div_euclid(DAY_S))).await?;
    tx.commit().await?;
    let deadlines = Deadlines::at(now_s, cx.plugin().config.keep_days);
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
        deleted += apply_references(&cx, &deadlines, &referenced, (&marked, &unreferenced), now_s).await?;
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
    let input = PayloadReferencesInput { hashes: hashes.copied().collect() };
    let contributions: Vec<(String, BTreeSet<Hash256>)> = cx.collect(point::PAYLOAD_REFERENCES, &input).await?;
    let known = pruning::referencing_plugins(&cx.db()).await?;
    let responded: BTreeSet<&str> = contributions.iter().map(|(plugin, _)| plugin.as_str()).collect();
    let gone = &cx.plugin().config.gone;
    let is_missing = |plugin: &&String| !responded.contains(plugin.as_str()) && !gone.contains(plugin);
    let missing: Vec<&str> = known.iter().filter(is_missing).map(String::as_str).collect();

    let tx = cx.begin();
    for new in responded.iter().filter(|plugin| !known.contains(**plugin)) {
        tx.defer(pruning::add_referencing_plugin(new))?;
    }
    totals::set_waits_for(&tx, &missing.join(",")).await?;
    tx.commit().await?;
    Ok(missing.is_empty().then(|| contributions.into_iter().flat_map(|(_, referenced)| referenced).collect()))
}

/// Keeps what is referenced, marks or deletes the rest; returns the number of deleted payloads.
async fn apply_references(
    cx: &PluginContext<Payloads>,
    deadlines: &Deadlines,
    referenced: &BTreeSet<Hash256>,
    (marked, unreferenced): (&[Hash256], &[Hash256]),
    now_s: i64,
) -> Result<i64, HostError> {
    let statements = marked.iter().filter(|hash| referenced.contains(*hash)).map(|hash| pruning::renew(*hash, now_s));
    let statements = statements.chain(unreferenced.iter().map(|hash| {
        if referenced.contains(hash) {
            pruning::renew(*hash, now_s)
        } else {
            pruning::mark_for_deletion(*hash, deadlines.unreferenced_until_s, now_s)
        }
    }));
    let tx = cx.begin();
    tx.batch(statements.collect()).await?;
    tx.commit().await?;

    let to_delete: Vec<Hash256> = marked.iter().filter(|hash| !referenced.contains(*hash)).copied().collect();
    let mut deleted = 0;
    for some in to_delete.chunks(DELETED_MAX) {
        let tx = cx.begin();
        deleted += pruning::delete(&tx, some, deadlines.marked_until_s).await?;
        tx.commit().await?;
    }
    Ok(deleted)
}
