//! Deletes payloads that nobody mentions.
//!
//! The rule: a payload goes only after every plugin that ever mentioned payloads has said twice, at least a while apart, that
//! it does not mention this one. Between the two it is not in `payloads_v1`: nobody begins to use what is about to go,
//! and whoever had begun before has committed by the time of the second question.

use crate::{
    Payloads,
    model::DAY_S,
    store::{pruning, totals},
};
use plugin_api::{
    Gateway, Hash256, HostError, Job, Query as _,
    point::{self, PayloadReferencesInput},
};
use std::{collections::BTreeSet, time::Duration};

pub const INTERVAL_S: i64 = 60 * 60;

/// Longer than any transaction lives.
const SECOND_THOUGHTS_S: i64 = 10 * 60;

/// Payloads of one question of each kind.
const ASKED_MAX: u32 = 500;

/// Payloads deleted in one transaction: they may have 256 KiB each.
const DELETED_MAX: usize = 50;

pub fn job() -> Job<Payloads> {
    Job::every("prune_payloads", Duration::from_secs(INTERVAL_S.unsigned_abs()), prune_payloads)
        .timeout(Duration::from_secs(10 * 60))
}

/// Until when payloads must have been named last, and given up, to have their turn.
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

async fn prune_payloads(gateway: Gateway<Payloads>) -> Result<(), HostError> {
    let now_s = gateway.now_s();
    let tx = gateway.begin();
    tx.run(pruning::forget_uploads_before(now_s.div_euclid(DAY_S))).await?;
    tx.commit().await?;
    let deadlines = Deadlines::at(now_s, gateway.plugin().config.keep_days);
    let mut deleted = 0;
    loop {
        let db = gateway.db();
        let given_up = pruning::given_up(&db, deadlines.given_up_until_s, ASKED_MAX).await?;
        let unnamed = pruning::unnamed(&db, deadlines.named_until_s, ASKED_MAX).await?;
        // Also when there is nothing to ask about: to know who answers.
        let Some(mentioned) = ask(&gateway, given_up.iter().chain(&unnamed)).await? else { break };
        if given_up.is_empty() && unnamed.is_empty() {
            break;
        }
        deleted += settle(&gateway, &deadlines, &mentioned, (&given_up, &unnamed), now_s).await?;
    }
    if deleted > 0 {
        gateway.info(&format!("deleted {deleted} payloads that nobody mentions"));
    }
    Ok(())
}

/// Which of them anybody mentions; nothing when somebody who should know does not answer.
async fn ask(
    gateway: &Gateway<Payloads>,
    hashes: impl Iterator<Item = &Hash256>,
) -> Result<Option<BTreeSet<Hash256>>, HostError> {
    let question = PayloadReferencesInput { hashes: hashes.copied().collect() };
    let answers: Vec<(String, BTreeSet<Hash256>)> = gateway.collect(point::PAYLOAD_REFERENCES, &question).await?;
    let known = pruning::witnesses(&gateway.db()).await?;
    let answered: BTreeSet<&str> = answers.iter().map(|(plugin, _)| plugin.as_str()).collect();
    let gone = &gateway.plugin().config.gone;
    let is_missing = |plugin: &&String| !answered.contains(plugin.as_str()) && !gone.contains(plugin);
    let missing: Vec<&str> = known.iter().filter(is_missing).map(String::as_str).collect();

    let tx = gateway.begin();
    for new in answered.iter().filter(|plugin| !known.contains(**plugin)) {
        tx.defer(pruning::remember_witness(new))?;
    }
    totals::set_waits_for(&tx, &missing.join(",")).await?;
    tx.commit().await?;
    Ok(missing.is_empty().then(|| answers.into_iter().flat_map(|(_, mentioned)| mentioned).collect()))
}

/// Keeps what is mentioned, gives up or deletes what is not; answers how many payloads were deleted.
async fn settle(
    gateway: &Gateway<Payloads>,
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
    let tx = gateway.begin();
    tx.batch(statements.collect()).await?;
    tx.commit().await?;

    let forgotten: Vec<Hash256> = given_up.iter().filter(|hash| !mentioned.contains(*hash)).copied().collect();
    let mut deleted = 0;
    for some in forgotten.chunks(DELETED_MAX) {
        let tx = gateway.begin();
        deleted += pruning::delete(&tx, some, deadlines.given_up_until_s).await?;
        tx.commit().await?;
    }
    Ok(deleted)
}
