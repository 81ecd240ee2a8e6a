//! Follows payouts on their way. A quote is paid when its transfer is final. One that was never carried out is recorded again; one that
//! reverted in a block has failed, and the operator decides.

use super::RowErrors;
use crate::{
    Payin,
    model::{PayinPaid, Quote},
    store::{caps, quotes},
};
use plugin_api::{
    Event, Hash256, HostError, Job, PluginContext,
    chain::{IntentStatus, TxState},
};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const QUOTES_MAX: u32 = 500;
/// Until a payout that was never carried out is recorded again.
const AGAIN_S: i64 = 3600;
/// What everybody reads; the log has the reasons.
const NOT_SENT: &str = "the transfer was not sent, and is repeated";
const REVERTED: &str = "the transfer failed in its block: the operator decides";

pub fn job() -> Job<Payin> {
    Job::every("follow", INTERVAL, follow)
}

async fn follow(cx: PluginContext<Payin>) -> Result<(), HostError> {
    let mut errors = RowErrors::default();
    for id in quotes::sent(&cx.db(), QUOTES_MAX).await? {
        let outcome = follow_one(&cx, &id).await;
        errors.note(&cx, &format!("the quote {id}"), outcome)?;
    }
    // What waits was logged.
    Ok(())
}

async fn follow_one(cx: &PluginContext<Payin>, id: &str) -> Result<(), HostError> {
    let Some(quote) = quotes::find(&cx.db(), id).await? else { return Ok(()) };
    let Some(intent) = quote.intent else { return Ok(()) };
    let Some(status) = cx.intent_status(intent).await? else {
        cx.error(&format!("the journal does not know intent {intent} of the quote {id}"));
        return Ok(());
    };
    match status.state {
        TxState::Final => finish(cx, &quote, &status).await,
        TxState::Failed => fail(cx, &quote, status).await,
        _ => note(cx, &quote, &status).await,
    }
}

/// Hash and nonce of the transaction that was signed last, or of the one in a block.
fn progress(status: &IntentStatus) -> (Option<Hash256>, Option<i64>) {
    (status.hash, status.nonce.map(u64::cast_signed))
}

async fn note(cx: &PluginContext<Payin>, quote: &Quote, status: &IntentStatus) -> Result<(), HostError> {
    let (progress, is_mined) = (progress(status), status.block.is_some());
    if (progress, is_mined) == ((quote.tx_out, quote.nonce), quote.is_mined) {
        return Ok(());
    }
    let quote = quote.clone();
    cx.write(async move |tx| quotes::note_progress(tx, &quote, progress, is_mined).await).await
}

async fn finish(cx: &PluginContext<Payin>, quote: &Quote, status: &IntentStatus) -> Result<(), HostError> {
    let (progress, quote) = (progress(status), quote.clone());
    cx.write(async move |tx| {
        quotes::note_progress(tx, &quote, progress, true).await?;
        let detail = progress.0.map_or_else(String::new, |hash| format!("by {hash}"));
        if !quotes::set_paid(tx, &quote, &detail).await? {
            return Ok(());
        }
        let arrived = quote.arrived();
        let paid = PayinPaid {
            quote_id: quote.id.clone(),
            chain: quote.chain.clone(),
            asset: quote.asset.clone(),
            amount: arrived.amount(),
            usd: arrived.usd(),
            usdc: arrived.usdc(),
            fmx_out: quote.fmx_out,
            to: quote.recipient,
            tx: progress.0,
        };
        paid.publish(tx)
    })
    .await
}

async fn fail(cx: &PluginContext<Payin>, quote: &Quote, status: IntentStatus) -> Result<(), HostError> {
    let reason = status.reason.clone().unwrap_or_default();
    let (id, progress, failed) = (&quote.id, progress(&status), quote.clone());
    if status.was_never_carried_out() {
        cx.warn(&format!("the payout of the quote {id} was not sent, and is recorded again in an hour: {reason}"));
        return cx
            .write(async move |tx| match quotes::repeat(tx, &failed, NOT_SENT, tx.now_s() + AGAIN_S).await? {
                Some(counted_at) => caps::give_back(tx, failed.fmx_out, counted_at).await,
                None => Ok(()),
            })
            .await;
    }
    cx.error(&format!("the payout of the quote {id} failed in its block: {reason}"));
    cx.write(async move |tx| {
        quotes::note_progress(tx, &failed, progress, true).await?;
        quotes::set_failed(tx, &failed, REVERTED).await.map(drop)
    })
    .await
}
