//! The job that counts burned base fees and takes snapshots. The rule: a snapshot is taken only where the count has come to its very block.

use crate::{
    Supply,
    chain::{self, CONFIRMATIONS},
    model::{MarketReading, Plan, Position, Snapshot, SnapshotError},
    store,
};
use plugin_api::{HostError, HostErrorCode, Job, PluginContext, chain::MAIN};
use std::time::Duration;

pub const NAME: &str = "update_supply";
/// How often the job looks whether there is something to do. After a start it takes a moment until the gateway knows the head.
const INTERVAL: Duration = Duration::from_secs(5);
/// While the last snapshot is younger, no other one is taken: there are two in the minute for which responses may be cached.
const NEW_MS: i64 = 25_000;
const TIMEOUT: Duration = Duration::from_secs(300);
/// A run that has more to count runs again at once.
const STEPS_MAX: usize = 16;

pub fn job() -> Job<Supply> {
    Job::every(NAME, INTERVAL, update_supply).timeout(TIMEOUT)
}

async fn update_supply(cx: PluginContext<Supply>) -> Result<(), HostError> {
    let Some(plan) = &cx.plugin().plan else { return Ok(()) };
    match update(&cx, plan).await {
        // The last snapshot is served meanwhile; the steps that were counted stay counted.
        Err(error) if error.is_transient() => {
            cx.debug(&format!("no snapshot can be taken now: {error}"));
            Ok(())
        }
        other => other,
    }
}

async fn update(cx: &PluginContext<Supply>, plan: &Plan) -> Result<(), HostError> {
    if is_new(store::snapshot(&cx.db()).await?.as_ref(), cx.now_ms()) {
        return Ok(());
    }
    let head = cx.chain(MAIN).head().await?.number;
    let first = plan.issuance.burn_block.max(plan.issuance.first_block.saturating_sub(1));
    let Some(target) = head.checked_sub(CONFIRMATIONS).filter(|target| *target >= first) else { return Ok(()) };
    let Some(at) = count(cx, plan, target).await? else { return cx.wake(NAME).await };
    let reading = chain::read(cx, plan, at, head).await?;
    let snapshot = match Snapshot::of(plan, &reading, cx.now_ms()) {
        Ok(snapshot) => snapshot,
        Err(SnapshotError::TooEarly { .. }) => return Ok(()),
        Err(error) => return Err(HostError::new(HostErrorCode::Invalid, error.to_string())),
    };
    let market = market(cx, &at).await?;
    cx.write(async move |tx| {
        store::put_snapshot(tx, &snapshot).await?;
        match &market {
            Some(market) => store::put_market(tx, market).await,
            None => Ok(()),
        }
    })
    .await
}

fn is_new(snapshot: Option<&Snapshot>, now_ms: i64) -> bool {
    snapshot.is_some_and(|snapshot| (0..NEW_MS).contains(&now_ms.saturating_sub(snapshot.computed_at)))
}

/// What the pools say at this position; none where they cannot be read now, which makes no difference for the supply.
async fn market(cx: &PluginContext<Supply>, at: &Position) -> Result<Option<MarketReading>, HostError> {
    let Some(venue) = &cx.plugin().venue else { return Ok(None) };
    match chain::read_market(cx, venue, at, cx.now_ms()).await {
        Ok(market) => Ok(Some(market)),
        Err(error) if error.is_transient() => {
            cx.debug(&format!("the pools cannot be read now: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Counts burned base fees up to and with the block `target`. None where this takes longer than one run.
async fn count(cx: &PluginContext<Supply>, plan: &Plan, target: u64) -> Result<Option<Position>, HostError> {
    let chain::ResumePosition { mut at, mut is_stored } = chain::resume(cx, plan).await?;
    for _ in 0..STEPS_MAX {
        if at.block == target {
            return Ok(Some(at));
        }
        if at.block > target {
            let reason = format!(
                "the head is 64 blocks above block {target}, and base fees are counted up to block {}",
                at.block
            );
            return Err(HostError::new(HostErrorCode::Unavailable, reason));
        }
        let next = chain::step(cx, &at, target).await?;
        let (origin, from) = (plan.origin(), is_stored.then_some(at));
        if !cx.write(async move |tx| store::advance(tx, &origin, from.as_ref(), &next).await).await? {
            return Ok(None);
        }
        (at, is_stored) = (next, true);
    }
    Ok((at.block == target).then_some(at))
}
