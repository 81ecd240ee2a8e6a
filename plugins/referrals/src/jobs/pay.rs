//! Pays claims whose job is final. The rule: both transfers, the place in the limits, the part of the budget and the state of the claim are
//! written in one transaction, in which the claim is still open and still eligible by the same job; otherwise none of it is.

use crate::{
    Referrals,
    model::{Eligible, ROLE, Side},
    store::{
        budget, claims,
        limits::{Full, Limits, next_day},
        transfers,
    },
};
use plugin_api::{
    Address, AgentId, HostError, HostErrorCode, Job, PluginContext, Tx, Wei,
    chain::{GasEstimate, MAIN, TransactionRequest},
};
use std::time::Duration;

/// Name of the job.
pub const PAY_JOB: &str = "pay";
const INTERVAL: Duration = Duration::from_secs(30);
/// Claims of one run.
const CLAIMS_MAX: u32 = 20;
/// What a transfer may use at most: an owner that is a contract runs its code with it.
const GAS_MAX: u64 = 60_000;
/// What must be left for gas beside the rewards: 0.01 FMX.
const GAS_RESERVE_WEI: u64 = 10_000_000_000_000_000;
/// Until a claim is tried again whose transfer would fail, or for which the budget has no room.
const HOUR_S: i64 = 3600;
/// The same for one whose job the chain does not have at this moment.
const MINUTE_S: i64 = 60;
/// The same for one that waits for an operator.
const DAY_S: i64 = 86_400;

pub fn job() -> Job<Referrals> {
    Job::every(PAY_JOB, INTERVAL, pay)
}

/// What is to be done with a claim.
enum Verdict {
    Pay,
    /// Its row says why, and it is tried again after so many seconds.
    Hold(String, i64),
}

async fn pay(cx: PluginContext<Referrals>) -> Result<(), HostError> {
    match pay_due(&cx).await {
        // Nothing was recorded: the next run tries it again, and the status says what is missing.
        Err(error) if error.is_transient() => {
            cx.warn(&format!("no referral can be paid now: {error}"));
            Ok(())
        }
        other => other,
    }
}

async fn pay_due(cx: &PluginContext<Referrals>) -> Result<(), HostError> {
    let config = &cx.plugin().config;
    let Some(budget) = config.budget_wei else { return Ok(()) };
    let Some(payer) = cx.signer(ROLE).configured_address().await? else { return Ok(()) };
    let final_block = i64::try_from(cx.chain(MAIN).finalized().await?.number).unwrap_or(i64::MAX);
    let due = (final_block, cx.now_s());
    for claim in claims::payable(&cx.db(), config.min_job_wei, due, CLAIMS_MAX).await? {
        match examine(cx, payer, &claim, final_block).await? {
            Verdict::Pay => record(cx, claim, budget).await?,
            Verdict::Hold(reason, wait_s) => hold(cx, claim.new_agent, reason, wait_s).await?,
        }
    }
    Ok(())
}

/// What the chain says: the index may be behind it, or on a branch that is gone.
async fn examine(
    cx: &PluginContext<Referrals>,
    payer: Address,
    claim: &Eligible,
    final_block: i64,
) -> Result<Verdict, HostError> {
    if cx.environment().restored_s.is_some_and(|restored_s| claim.may_be_paid(restored_s)) {
        let reason = "the database was restored: an operator has to check whether it was paid, and to release it";
        return Ok(Verdict::Hold(reason.to_owned(), DAY_S));
    }
    let chain = cx.chain(MAIN);
    let receipt = chain.receipt(claim.tx).await?;
    let block = receipt.filter(|receipt| receipt.ok).and_then(|receipt| i64::try_from(receipt.block).ok());
    if block.is_none_or(|block| block != claim.block || block > final_block) {
        return Ok(Verdict::Hold("the chain does not have the job's completion at this moment".to_owned(), MINUTE_S));
    }
    let needed = transfers::outstanding(&cx.db()).await?.saturating_add(claim.reward.saturating_mul(2));
    if chain.balance(payer, None).await? < needed.saturating_add(Wei::from(GAS_RESERVE_WEI)) {
        cx.warn(&format!("the account {payer} of the role {ROLE} cannot pay two rewards of {} wei", claim.reward));
        return Ok(Verdict::Hold("the account that pays has not enough coins at this moment".to_owned(), MINUTE_S));
    }
    for side in Side::BOTH {
        let request = transfer(claim.new_agent, side, 1, claim.owner(side), claim.reward);
        let problem = match chain.estimate(payer, &request).await? {
            GasEstimate::Gas(gas) if gas <= GAS_MAX => continue,
            GasEstimate::Gas(gas) => format!("it takes {gas} gas, at most {GAS_MAX} are paid"),
            GasEstimate::Fails(reason) => reason,
        };
        return Ok(Verdict::Hold(format!("a transfer to {} would fail: {problem}", side.member()), HOUR_S));
    }
    Ok(Verdict::Pay)
}

/// The transfer of a reward.
pub fn transfer(new_agent: AgentId, side: Side, attempt: i64, owner: Address, reward: Wei) -> TransactionRequest {
    let key = format!("referral {new_agent} {} {attempt}", side.name());
    TransactionRequest::new(ROLE, key, owner).value(reward).gas(GAS_MAX)
}

async fn hold(cx: &PluginContext<Referrals>, agent: AgentId, reason: String, wait_s: i64) -> Result<(), HostError> {
    cx.info(&format!("the referral of agent {agent} is not paid now: {reason}"));
    cx.write(async move |tx| claims::hold(tx, agent, &reason, tx.now_s() + wait_s).await).await
}

async fn record(cx: &PluginContext<Referrals>, claim: Eligible, budget: Wei) -> Result<(), HostError> {
    let config = &cx.plugin().config;
    let limits = Limits {
        per_referrer: config.paid_per_referrer_per_day,
        per_day: config.paid_per_day,
        unreleased: config.unreleased_per_day,
    };
    let min_job = config.min_job_wei;
    let (agent, reward) = (claim.new_agent, claim.reward);
    let is_recorded = cx
        .write(async move |tx| {
            // Since it was read, a reorganisation, an operator or another gateway may have changed it.
            if claims::eligible(tx, min_job, claim.new_agent).await?.as_ref() != Some(&claim) {
                return Ok(false);
            }
            if let Some((reason, retry_at)) = refusal(tx, &claim, limits, budget).await? {
                claims::hold(tx, claim.new_agent, reason, retry_at).await?;
                return Ok(false);
            }
            count_and_send(tx, &claim, limits).await?;
            Ok(true)
        })
        .await?;
    if is_recorded {
        cx.info(&format!("the referral of agent {agent} is paid: {reward} wei to each owner"));
    }
    Ok(())
}

/// Why it is not paid now, and when to try it again.
async fn refusal(
    tx: &Tx,
    claim: &Eligible,
    limits: Limits,
    budget: Wei,
) -> Result<Option<(&'static str, i64)>, HostError> {
    let now_s = tx.now_s();
    let spent = budget::spent(tx).await?.checked_add(claim.reward).and_then(|sum| sum.checked_add(claim.reward));
    if spent.is_none_or(|spent| spent > budget) {
        return Ok(Some(("the budget for referrals has no room for it", now_s + HOUR_S)));
    }
    let full = limits.full(tx, claim.ref_owner, claim.released_at.is_some(), now_s).await?;
    let reason = full.map(|full| match full {
        Full::Referrer => "the referrer's owner has had the payouts of this day",
        Full::Network => "all payouts of this day are made",
        Full::Unreleased => "it waits for the release of an operator, or for the next day",
    });
    Ok(reason.map(|reason| (reason, next_day(now_s))))
}

async fn count_and_send(tx: &Tx, claim: &Eligible, limits: Limits) -> Result<(), HostError> {
    let Eligible { new_agent, reward, job_id, eligible_at, ref_owner, .. } = *claim;
    let spent = budget::spent(tx).await?.saturating_add(reward.saturating_mul(2));
    budget::set_spent(tx, spent).await?;
    let is_first = claims::set_sent(tx, new_agent, job_id, eligible_at).await?;
    if !is_first || !limits.count(tx, ref_owner).await? {
        // The checks before have read the same rows in this transaction.
        return Err(HostError::new(HostErrorCode::Conflict, "the limits changed at this moment"));
    }
    for side in Side::BOTH {
        let intent = transfer(new_agent, side, 1, claim.owner(side), reward).record(tx).await?;
        transfers::insert(tx, new_agent, side, intent).await?;
    }
    Ok(())
}
