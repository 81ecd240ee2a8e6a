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
const SECOND_THOUGHTS_S: i64 = 10 * 60;

/// Payloads of each kind per call.
const ASKED_MAX: u32 = 500;

/// Payloads deleted in one transaction: each may have 256 KiB.
const DELETED_MAX: usize = 50;

pub fn job() -> Job<Payloads> {
    Job::every("prune_payloads", Duration::from_secs(INTERVAL_S.unsigned_abs()), prune_payloads)
        .timeout(Duration::from_secs(10 * 60))
}

/// Payloads that were last used or condemned before these times are due.
pub struct Deadlines {
    pub named_until_s: i64,
    pub given_up_until_s: i64,
}

impl Deadlines {
    pub fn at(now_s: i64, keep_days: u32) -> Self {
        let named_until_s = now_s - i64::from(keep_days) * DAY_S;
        Self { named_until_s, given_up_until_s: now_s - SECOND_THOUGHTS_S }
    }
}

async fn prune_payloads(cx: PluginContext<Payloads>) -> Result<(), HostError> {
    let now_s = cx.now_s();
    let tx = cx.begin();
    tx.run(pruning::forget_uploads_before(now_s.div_euclid(DAY_S))).await?;
    tx.commit().await?;
    let deadlines = Deadlines::at(now_s, cx.plugin().config.keep_days);
    let mut deleted = 0;
    loop {
        let db = cx.db();
        let given_up = pruning::given_up(&db, deadlines.given_up_until_s, ASKED_MAX).await?;
        let unnamed = pruning::unnamed(&db, deadlines.named_until_s, ASKED_MAX).await?;
        // Called also without candidates, to learn which plugins respond.
        let Some(mentioned) = ask(&cx, given_up.iter().chain(&unnamed)).await? else { break };
        if given_up.is_empty() && unnamed.is_empty() {
            break;
        }
        deleted += settle(&cx, &deadlines, &mentioned, (&given_up, &unnamed), now_s).await?;
    }
    if deleted > 0 {
        cx.info(&format!("deleted {deleted} payloads that nobody mentions"));
    }
    Ok(())
}

/// Those of the candidates that plugins reference; `None` when a plugin that should respond does not.
async fn ask(
    cx: &PluginContext<Payloads>,
    hashes: impl Iterator<Item = &Hash256>,
) -> Result<Option<BTreeSet<Hash256>>, HostError> {
    let question = PayloadReferencesInput { hashes: hashes.copied().collect() };
    let answers: Vec<(String, BTreeSet<Hash256>)> = cx.collect(point::PAYLOAD_REFERENCES, &question).await?;
    let known = pruning::witnesses(&cx.db()).await?;
    let answered: BTreeSet<&str> = answers.iter().map(|(plugin, _)| plugin.as_str()).collect();
    let gone = &cx.plugin().config.gone;
    let is_missing = |plugin: &&String| !answered.contains(plugin.as_str()) && !gone.contains(plugin);
    let missing: Vec<&str> = known.iter().filter(is_missing).map(String::as_str).collect();

    let tx = cx.begin();
    for new in answered.iter().filter(|plugin| !known.contains(**plugin)) {
        tx.defer(pruning::remember_witness(new))?;
    }
    totals::set_waits_for(&tx, &missing.join(",")).await?;
    tx.commit().await?;
    Ok(missing.is_empty().then(|| answers.into_iter().flat_map(|(_, mentioned)| mentioned).collect()))
}

/// Keeps what is referenced, condemns or deletes the rest; returns the number of deleted payloads.
async fn settle(
    cx: &PluginContext<Payloads>,
    deadlines: &Deadlines,
    mentioned: &BTreeSet<Hash256>,
    (given_up, unnamed): (&[Hash256], &[Hash256]),
    now_s: i64,
) -> Result<i64, HostError> {
    let statements = given_up.iter().filter(|hash| mentioned.contains(*hash)).map(|hash| pruning::keep(*hash, now_s));
    let statements = statements.chain(unnamed.iter().map(|hash| {
        if mentioned.contains(hash) {
            pruning::keep(*hash, now_s)
        } else {
            pruning::give_up(*hash, deadlines.named_until_s, now_s)
        }
    }));
    let tx = cx.begin();
    tx.batch(statements.collect()).await?;
    tx.commit().await?;

    let forgotten: Vec<Hash256> = given_up.iter().filter(|hash| !mentioned.contains(*hash)).copied().collect();
    let mut deleted = 0;
    for some in forgotten.chunks(DELETED_MAX) {
        let tx = cx.begin();
        deleted += pruning::delete(&tx, some, deadlines.given_up_until_s).await?;
        tx.commit().await?;
    }
    Ok(deleted)
}
