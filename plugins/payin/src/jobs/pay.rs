//! Pays confirmed quotes. The rules: after a restore of the database nothing is paid before an operator says so, because it does not know what
//! was paid since the backup.
//!
//! The other: the deposit was looked up a last time, by two servers; then the quote's intent, its part of the caps and the
//! transfer are written in one transaction, in which the quote is still confirmed, its deposit unchanged and nothing paused. Otherwise none of
//! it is. What holds a quote back is written into it, in words for everybody, and it is never failed for that.

use super::{
    RowErrors, is_lasting, is_passing,
    scan::{Presence, look_up},
};
use crate::{
    Payin,
    config::Caps,
    model::{Deposit, Quote, ROLE, Status},
    store::{caps, deposits, pauses, quotes},
};
use plugin_api::{
    Address, HostError, HostErrorCode, Job, PluginContext, Tx, Wei,
    chain::{GasEstimate, MAIN, TransactionRequest},
};
use std::time::Duration;

/// Name of the job.
pub const PAY_JOB: &str = "pay";
const INTERVAL: Duration = Duration::from_secs(20);
/// Quotes of one run.
const QUOTES_MAX: u32 = 20;
/// What a transfer may use at most: a recipient that is a contract runs its code with it.
const GAS_MAX: u64 = 60_000;
/// What must be left for gas beside the coins: 0.01.
const GAS_RESERVE_WEI: u64 = 10_000_000_000_000_000;
const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 3600;
/// The part of a deposit's age that its quote waits for until it is checked again.
const WAITS_OF_AGE: i64 = 24;
/// What everybody reads. The reasons are in the log, and that of a pause is the operators'.
const PAUSED: &str = "payouts are paused";
const RESTORED: &str = "the database was restored: check on the chain what was paid since the backup, then resume";
const UNCHECKED: &str = "its deposit, or the account that pays, cannot be checked now";
const BROKEN: &str = "it cannot be processed: the operator finds the reason in the log";

pub fn job() -> Job<Payin> {
    Job::every(PAY_JOB, INTERVAL, pay)
}

/// What is to be done with a quote.
enum Verdict {
    Pay(Box<Deposit>),
    /// Its row says why, and it is tried again after so many seconds.
    Hold(String, i64),
}

async fn pay(cx: PluginContext<Payin>) -> Result<(), HostError> {
    match pay_due(&cx).await {
        // Nothing was recorded: the next run tries it again, and the status says what is missing.
        Err(error) if is_passing(&error) => {
            cx.warn(&format!("no quote can be paid now: {error}"));
            Ok(())
        }
        other => other,
    }
}

/// Once after each restore. No other job pays, so that none does before.
async fn pause_after_restore(cx: &PluginContext<Payin>) -> Result<(), HostError> {
    let Some(restored_s) = cx.environment().restored_s else { return Ok(()) };
    if pauses::knows_restore(&cx.db(), restored_s).await? {
        return Ok(());
    }
    let is_paused = cx
        .write(async move |tx| {
            let is_new = pauses::note_restore(tx, restored_s).await?;
            Ok(is_new && pauses::pause(tx, pauses::ALL, RESTORED, None).await?)
        })
        .await?;
    if is_paused {
        cx.warn(&format!("everything is paused: {RESTORED}"));
    }
    Ok(())
}

async fn pay_due(cx: &PluginContext<Payin>) -> Result<(), HostError> {
    pause_after_restore(cx).await?;
    let mut errors = RowErrors::default();
    for id in quotes::payable(&cx.db(), cx.now_s(), QUOTES_MAX).await? {
        let outcome = pay_one(cx, &id).await;
        match &outcome {
            Err(error) if is_passing(error) => hold_unchecked(cx, &id).await?,
            Err(error) if is_lasting(error) => hold(cx, &id, BROKEN, HOUR_S).await?,
            _ => {}
        }
        errors.note(cx, &format!("the quote {id}"), outcome)?;
    }
    // What waits says so itself.
    Ok(())
}

async fn pay_one(cx: &PluginContext<Payin>, id: &str) -> Result<(), HostError> {
    let Some(quote) = quotes::find(&cx.db(), id).await? else { return Ok(()) };
    if quote.status != Status::Confirmed || quote.intent.is_some() {
        // Another gateway was faster.
        return Ok(());
    }
    let (reason, wait_s) = match (examine(cx, &quote).await?, cx.plugin().config.caps()) {
        (Verdict::Pay(deposit), Some(caps)) => return record(cx, &quote, &deposit, caps).await,
        (Verdict::Pay(_), None) => ("no caps of payouts are configured".to_owned(), HOUR_S),
        (Verdict::Hold(reason, wait_s), _) => (reason, wait_s),
    };
    if quote.error.as_ref() != Some(&reason) {
        cx.info(&format!("the quote {id} is not paid now: {reason}"));
    }
    hold(cx, id, &reason, wait_s).await
}

async fn examine(cx: &PluginContext<Payin>, quote: &Quote) -> Result<Verdict, HostError> {
    let hold = |reason: &str, wait_s| Ok(Verdict::Hold(reason.to_owned(), wait_s));
    if cx.plugin().chain(&quote.chain).is_none() {
        return hold("its chain is not configured any more", HOUR_S);
    }
    if pauses::is_paused(&cx.db(), &quote.chain, Some(&quote.asset)).await? {
        return hold(PAUSED, MINUTE_S);
    }
    let Some(payer) = cx.signer(ROLE).configured_address().await? else {
        return hold("the role payin has no key", MINUTE_S);
    };
    let Some(deposit) = present(cx, quote).await? else {
        return hold("its deposit is not where it was", MINUTE_S);
    };
    let needed = quotes::outstanding(&cx.db()).await?.saturating_add(quote.fmx_out);
    if cx.chain(MAIN).balance(payer, None).await? < needed.saturating_add(Wei::from(GAS_RESERVE_WEI)) {
        cx.warn(&format!("the account {payer} of the role {ROLE} cannot pay {} wei", quote.fmx_out));
        return hold("the account that pays has not enough coins now", MINUTE_S);
    }
    match cx.chain(MAIN).estimate(payer, &transfer(quote)).await? {
        GasEstimate::Gas(gas) if gas <= GAS_MAX => Ok(Verdict::Pay(Box::new(deposit))),
        GasEstimate::Gas(gas) => hold(&format!("the transfer takes {gas} gas, at most {GAS_MAX} are paid"), HOUR_S),
        GasEstimate::Fails(reason) => {
            cx.warn(&format!("the transfer of the quote {} to {} would fail: {reason}", quote.id, quote.recipient));
            hold("the transfer would fail: the recipient does not accept it", HOUR_S)
        }
    }
}

/// The deposit, when it is where it was and has all confirmations.
async fn present(cx: &PluginContext<Payin>, quote: &Quote) -> Result<Option<Deposit>, HostError> {
    let Some(id) = quote.deposit else { return Ok(None) };
    let Some(deposit) = deposits::find(&cx.db(), id).await? else { return Ok(None) };
    let source = cx.chain(&quote.chain).quorum();
    let head = source.head().await?;
    let presence = look_up(&source, &deposit, head).await?;
    let is_present = matches!(presence, Presence::Here { confirmations } if confirmations >= quote.required);
    Ok(is_present.then_some(deposit))
}

fn transfer(quote: &Quote) -> TransactionRequest {
    let key = format!("payin {} {}", quote.id, quote.attempt);
    TransactionRequest::new(ROLE, key, quote.recipient).value(quote.fmx_out).gas(GAS_MAX)
}

/// Longer, the older the deposit is: what servers have forgotten they will not tell in a minute.
async fn hold_unchecked(cx: &PluginContext<Payin>, id: &str) -> Result<(), HostError> {
    let id = id.to_owned();
    cx.write(async move |tx| {
        let seen_at = quotes::find(tx, &id).await?.and_then(|quote| quote.seen_at);
        let age_s = seen_at.map_or(0, |seen_at| tx.now_s() - seen_at);
        let wait_s = (age_s / WAITS_OF_AGE).clamp(MINUTE_S, HOUR_S);
        quotes::hold(tx, &id, UNCHECKED, tx.now_s() + wait_s).await
    })
    .await
}

async fn hold(cx: &PluginContext<Payin>, id: &str, reason: &str, wait_s: i64) -> Result<(), HostError> {
    let (id, reason) = (id.to_owned(), reason.to_owned());
    cx.write(async move |tx| quotes::hold(tx, &id, &reason, tx.now_s() + wait_s).await).await
}

async fn record(cx: &PluginContext<Payin>, quote: &Quote, deposit: &Deposit, caps: Caps) -> Result<(), HostError> {
    let (confirmed, deposit) = (quote.clone(), deposit.clone());
    let is_recorded = cx.write(async move |tx| record_in(tx, &confirmed, &deposit, caps).await).await?;
    if is_recorded {
        cx.info(&format!("the quote {} is paid: {} wei to {}", quote.id, quote.fmx_out, quote.recipient));
    }
    Ok(())
}

async fn record_in(tx: &Tx, quote: &Quote, deposit: &Deposit, caps: Caps) -> Result<bool, HostError> {
    // Since it was read, a reorganisation, an operator or another gateway may have changed it.
    let current = quotes::find(tx, &quote.id).await?;
    let of = |quote: &Quote| (quote.status, quote.intent, quote.attempt, quote.deposit, quote.fmx_out, quote.recipient);
    if current.is_none_or(|current| of(&current) != of(quote)) || !deposits::is_unchanged(tx, quote, deposit).await? {
        return Ok(false);
    }
    if pauses::is_paused(tx, &quote.chain, Some(&quote.asset)).await? {
        quotes::hold(tx, &quote.id, PAUSED, tx.now_s() + MINUTE_S).await?;
        return Ok(false);
    }
    if let Some((reason, wait_s)) = caps::full(tx, caps, quote.fmx_out).await? {
        quotes::hold(tx, &quote.id, reason, tx.now_s() + wait_s).await?;
        return Ok(false);
    }
    caps::count(tx, caps, quote.fmx_out).await?;
    let intent = transfer(quote).record(tx).await?;
    if !quotes::set_intent(tx, &quote.id, quote.attempt, intent).await? {
        return Err(HostError::new(HostErrorCode::Conflict, "the quote changed at this moment"));
    }
    Ok(true)
}

/// The address that pays, and its balance; `None` without a key, or when it cannot be read.
pub async fn account(cx: &PluginContext<Payin>) -> Result<(Option<Address>, Option<Wei>), HostError> {
    match cx.nonce_queue(ROLE, MAIN).await {
        Ok(queue) => Ok((Some(queue.address), queue.balance)),
        Err(error) if error.is(HostErrorCode::Disabled) => Ok((None, None)),
        Err(error) => Err(error),
    }
}
