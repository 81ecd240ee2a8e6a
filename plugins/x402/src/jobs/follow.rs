//! Follows the batches on their way. Vouchers stay `submitted` until the intent of their batch is final or failed: only a failed one
//! puts them back, because then none of its transactions can be mined any more.

use super::{batch::Sender, settle::report_lost};
use crate::{
    X402,
    contributions::vault_address,
    model::EXPIRED,
    store::{
        batches::{self, Batch},
        payers,
    },
};
use plugin_api::{
    HostError, Job, PluginContext,
    chain::{IntentStatus, TxState},
};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(5);
/// Batches of one statement. A run follows all: one that is mined and not noted as such would stop the sales.
const BATCHES_MAX: u32 = 500;
/// Batches with a voucher alone that may fail.
const ATTEMPTS_MAX: i64 = 3;

pub fn job() -> Job<X402> {
    Job::every("follow", INTERVAL, follow)
}

async fn follow(cx: PluginContext<X402>) -> Result<(), HostError> {
    let mut after = 0;
    loop {
        let sent = batches::sent(&cx.db(), after, BATCHES_MAX).await?;
        let Some(last) = sent.last() else { return Ok(()) };
        after = last.id;
        for batch in sent {
            follow_batch(&cx, batch).await?;
        }
    }
}

async fn follow_batch(cx: &PluginContext<X402>, batch: Batch) -> Result<(), HostError> {
    let Some(status) = cx.intent_status(batch.intent).await? else {
        cx.error(&format!("the journal does not know intent {} of batch {}", batch.intent, batch.id));
        return Ok(());
    };
    note_progress(cx, &batch, &status).await?;
    match status.state {
        TxState::Final if batches::has_ended(&cx.db(), batch.id).await? => {
            cx.write(async move |tx| batches::end(tx, batch.id, "done", None).await).await.map(drop)
        }
        TxState::Failed => fail(cx, batch.id, status).await,
        _ => Ok(()),
    }
}

/// The transactions of the batch, before the index gets to them: what the vault says in one counts only for the batch that it belongs
/// to. And whether one is in a block.
async fn note_progress(cx: &PluginContext<X402>, batch: &Batch, status: &IntentStatus) -> Result<(), HostError> {
    let known = batches::transactions(&cx.db(), batch.id).await?;
    let new: Vec<_> = status.hashes.iter().copied().filter(|hash| !known.contains(hash)).collect();
    let (id, is_mined) = (batch.id, status.block.is_some());
    if new.is_empty() && is_mined == batch.is_mined {
        return Ok(());
    }
    cx.write(async move |tx| {
        batches::note_transactions(tx, id, &new).await?;
        batches::set_mined(tx, id, is_mined).await
    })
    .await
}

/// Several vouchers are tried in two halves, until the one that makes a batch fail is alone. Only then the failure is its own. A contract
/// shares its batches with nobody: that its code made one fail is its doing at once, as the vault itself skips what is wrong and goes on.
async fn fail(cx: &PluginContext<X402>, batch: i64, status: IntentStatus) -> Result<(), HostError> {
    let (vault, config) = (vault_address(cx), &cx.plugin().config);
    let (contract_gas, refused_s) = (config.contract_gas, config.refused_s());
    let is_payers_code = status.has_call_failed();
    let reason = status.reason.unwrap_or_default();
    cx.warn(&format!("batch {batch} failed: {reason}"));
    let expired = cx
        .write(async move |tx| {
            if !batches::end(tx, batch, "failed", Some(&reason)).await? {
                return Ok(0);
            }
            let was_alone = batches::size(tx, batch).await? == 1;
            if is_payers_code {
                payers::refuse_contracts(tx, batch, tx.now_s() + refused_s).await?;
            }
            batches::put_back_others(tx, batch, vault).await?;
            let expired = batches::skip_expired(tx, batch, EXPIRED).await?;
            if was_alone {
                batches::count_attempt(tx, batch, ATTEMPTS_MAX, &reason).await?;
                return Ok(expired);
            }
            let (left, Some(vault)) = (batches::left(tx, batch).await?, vault) else { return Ok(expired) };
            let sender = Sender { vault, contract_gas };
            for half in left.chunks(left.len().div_ceil(2).max(1)) {
                sender.send(tx, Some(batch), half).await?;
            }
            Ok(expired)
        })
        .await?;
    report_lost(cx, expired, "expired");
    Ok(())
}
