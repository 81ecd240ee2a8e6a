//! Follows the chain block by block. The rules: a block is taken in when its parent is the last one that was, and given back when it is
//! no longer in the chain; it is counted once, when it is final.

use super::run;
use crate::{
    Loadtest,
    model::{Kind, TotalsByKind},
    store::{
        blocks::{self, BlockRow},
        counts, runner,
        sinks::{self, SinkRow},
        transactions::{self, FinalTransaction},
        wallets,
    },
};
use plugin_api::{
    Address, Hash256, HostError, HostErrorCode, Job, PluginContext, Tx, Wei,
    chain::{BlockTransactions, MAIN, TransactionInfo},
};
use std::{collections::BTreeSet, time::Duration};

const INTERVAL: Duration = Duration::from_secs(1);
/// Blocks of one run.
const BLOCKS_MAX: u32 = 100;

pub fn job() -> Job<Loadtest> {
    Job::every("follow", INTERVAL, follow)
}

async fn follow(cx: PluginContext<Loadtest>) -> Result<(), HostError> {
    if wallets::last(&cx.db()).await?.is_none() {
        return Ok(());
    }
    match take_in(&cx).await {
        // No server answers, or another gateway did the same: the next run goes on.
        Err(error) if error.is_transient() || error.is(HostErrorCode::Constraint) => {
            cx.debug(&format!("the chain cannot be followed now: {error}"));
            Ok(())
        }
        other => other,
    }?;
    run::step(&cx).await
}

/// Takes in the blocks that are new, and counts those that are final.
async fn take_in(cx: &PluginContext<Loadtest>) -> Result<(), HostError> {
    let chain = cx.chain(MAIN);
    let mut last = blocks::last(&cx.db()).await?;
    // The first one is final: if it could be given back, nothing would say where to go on, and blocks with transactions would be left out.
    let newest = if last.is_some() { chain.head().await? } else { chain.finalized().await? };
    let newest = signed(newest.number);
    for _ in 0..BLOCKS_MAX {
        let next = match &last {
            Some(last) => last.number + 1,
            None => cx.plugin().config.count_from_block.map_or(newest, signed),
        };
        if next > newest {
            break;
        }
        // A server that is behind the one that told the head has no such block yet.
        let Some(block) = chain.transactions(next.unsigned_abs()).await? else { break };
        last = match last {
            Some(before) if before.hash != block.block.parent => give_back(cx, before).await?,
            _ => Some(store(cx, block).await?),
        };
        if last.is_none() {
            // The next run begins anew, at a final block.
            break;
        }
    }
    let Some(last) = last else { return Ok(()) };
    let finalized = chain.finalized().await?;
    let final_block = signed(finalized.number);
    // What was followed may have left the chain, which is noticed with the next block: what is counted is the chain's now.
    let known =
        if final_block > last.number { chain.block(last.number.unsigned_abs()).await? } else { Some(finalized) };
    let Some(known) = known else { return Ok(()) };
    if blocks::hash(&cx.db(), signed(known.number)).await? != Some(known.hash) {
        return Ok(());
    }
    count(cx, signed(known.number), final_block).await
}

/// Forgets a block that the chain has no more. Those that are counted are final, so there is none to give back below them.
async fn give_back(cx: &PluginContext<Loadtest>, block: BlockRow) -> Result<Option<BlockRow>, HostError> {
    if block.is_counted == 1 {
        let message = format!("block {} was final and is no longer in the chain", block.number);
        return Err(HostError::new(HostErrorCode::Internal, message));
    }
    let number = block.number;
    cx.write(async move |tx| {
        blocks::remove(tx, number).await?;
        transactions::give_back(tx, number).await?;
        blocks::last(tx).await
    })
    .await
}

async fn store(cx: &PluginContext<Loadtest>, block: BlockTransactions) -> Result<BlockRow, HostError> {
    let BlockTransactions { block: info, transactions } = block;
    let parties: BTreeSet<Address> =
        transactions.iter().flat_map(|sent| [Some(sent.from), sent.to]).flatten().collect();
    let parties: Vec<Address> = parties.into_iter().collect();
    let ours = wallets::indexes(&cx.db(), &parties).await?;
    let float = wallets::address(&cx.db(), 0).await?;
    let mut tally = TotalsByKind::default();
    for sent in transactions.iter().filter(|sent| ours.contains_key(&sent.from)) {
        tally.count(Kind::of(sent.from, sent.to, float, cx.plugin().config.sink_address()), sent.value);
    }
    let row = BlockRow {
        number: signed(info.number),
        hash: info.hash,
        mined_at: info.time_s,
        transactions: i64::try_from(transactions.len()).unwrap_or(i64::MAX),
        labelled: tally.transactions(),
        kinds: serde_json::to_string(&tally)
            .map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))?,
        is_counted: 0,
    };
    let is_ours = |sent: &&TransactionInfo| ours.contains_key(&sent.from);
    let mined: Vec<Hash256> = transactions.iter().filter(is_ours).map(|sent| sent.hash).collect();
    let (stored, seen) = (row.clone(), ours.values().copied().collect::<Vec<i64>>());
    cx.write(async move |tx| {
        transactions::set_mined(tx, &mined, stored.number).await?;
        wallets::set_seen(tx, &seen).await?;
        blocks::insert(tx, &stored).await
    })
    .await?;
    Ok(row)
}

/// Counts the blocks up to this one; `final_block` is the newest final one.
async fn count(cx: &PluginContext<Loadtest>, last: i64, final_block: i64) -> Result<(), HostError> {
    for block in blocks::uncounted(&cx.db(), last, BLOCKS_MAX).await? {
        cx.write(async move |tx| {
            if !blocks::set_counted(tx, block.number).await? {
                return Ok(());
            }
            let mut tally = block.tally();
            finish(tx, &block, &mut tally).await?;
            counts::count(tx, &block, &tally, final_block).await
        })
        .await?;
    }
    Ok(())
}

/// Ends the runner's transactions of a final block: they are counted, and forgotten.
async fn finish(tx: &Tx, block: &BlockRow, tally: &mut TotalsByKind) -> Result<(), HostError> {
    let finished = transactions::take_final(tx, block.number).await?;
    if finished.is_empty() {
        return Ok(());
    }
    let fees = finished.iter().fold(Wei::ZERO, |sum, sent| sum.saturating_add(sent.fee));
    for FinalTransaction { hash, kind, value_wei, .. } in finished {
        match Kind::parse(&kind) {
            // By sender and recipient it is a sweep like others.
            Some(Kind::Final) => tally.move_one(Kind::Sweep, Kind::Final, value_wei),
            Some(Kind::Sink) => {
                let (mined_at, block) = (block.mined_at, block.number);
                sinks::insert(tx, &SinkRow { hash, value_wei, mined_at, block }).await?;
            }
            _ => {}
        }
    }
    runner::add_fees(tx, fees).await
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
