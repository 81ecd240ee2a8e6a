//! Whether deposits are still in their chains: counts confirmations, takes back what is gone, and stops everything when that happens after a
//! payout.

use crate::{
    Payin,
    jobs::RowErrors,
    model::{Deposit, DepositState, Quote, Status, TakenChain},
    store::{
        deposits::{self, Departure},
        pauses,
        quotes::{self, FollowedDeposit},
        scans,
    },
};
use plugin_api::{
    HostError, PluginContext,
    chain::{BlockInfo, Chain},
};

/// Quotes of a chain that one run looks up: each takes four requests, and a run two minutes at most.
const QUOTES_MAX: u32 = 50;
/// A confirmed quote that is held back is looked up so often.
const HELD_S: i64 = 120;
/// A deposit that was found so long ago is one of those that servers may have forgotten.
const YOUNG_S: i64 = 3600;
/// How long a deposit is looked up after its payout is final. Before, it is looked up however long that takes.
const WATCH_S: i64 = 86_400;
/// Deposits of payouts that one run looks up.
const WATCHED_MAX: u32 = 50;

/// Where a deposit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Where it was, with so many blocks from its own to the head.
    Here { confirmations: i64 },
    /// Its transaction is in this block now, or in none.
    Gone { block: Option<u64> },
    /// The servers lack its receipt or its block, and nothing says that another block is in its place.
    Unproven,
}

/// Looks a deposit up; two servers agree about receipt, block and head.
///
/// That servers lack a receipt or a block proves nothing: they may be behind, or have pruned it. A chain that became shorter has no block of
/// this number, and the deposit is gone when one is there again.
pub async fn look_up(source: &Chain<'_>, deposit: &Deposit, head: BlockInfo) -> Result<Presence, HostError> {
    if !deposit.has_transaction() {
        return look_up_block(source, deposit, head).await;
    }
    let receipt = source.receipt(deposit.tx).await?;
    let elsewhere = receipt.as_ref().filter(|receipt| !deposit.is_in(receipt)).map(|receipt| receipt.block);
    if elsewhere.is_some() {
        return Ok(Presence::Gone { block: elsewhere });
    }
    let block = source.block(deposit.block.cast_unsigned()).await?;
    Ok(match (receipt, block) {
        (receipt, Some(block)) if block.hash != deposit.block_hash => {
            Presence::Gone { block: receipt.map(|receipt| receipt.block) }
        }
        (Some(_), Some(_)) => Presence::here(deposit, head),
        _ => Presence::Unproven,
    })
}

/// What no transaction sent is there while its block is.
async fn look_up_block(source: &Chain<'_>, deposit: &Deposit, head: BlockInfo) -> Result<Presence, HostError> {
    Ok(match source.block(deposit.block.cast_unsigned()).await? {
        Some(block) if block.hash == deposit.block_hash => Presence::here(deposit, head),
        Some(_) => Presence::Gone { block: None },
        None => Presence::Unproven,
    })
}

impl Presence {
    fn here(deposit: &Deposit, head: BlockInfo) -> Self {
        let blocks = head.number.cast_signed().saturating_sub(deposit.block).saturating_add(1);
        Self::Here { confirmations: blocks.max(0) }
    }
}

/// Whose deposits are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payouts {
    Unrecorded,
    Recorded,
}

pub async fn follow(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    head: BlockInfo,
) -> Result<(), HostError> {
    let (db, slug, now_s) = (cx.db(), &*chain.slug, cx.now_s());
    let unpaid = quotes::unpaid(&db, slug, now_s - HELD_S, QUOTES_MAX).await?;
    let paid = deposits::paid_since(&db, slug, now_s - WATCH_S, WATCHED_MAX).await?;
    // Unpaid ones that fail leave those that are paid looked up.
    let unpaid = follow_all(cx, chain, source, head, (Payouts::Unrecorded, unpaid)).await;
    let paid = follow_all(cx, chain, source, head, (Payouts::Recorded, paid)).await;
    unpaid.and(paid)
}

/// One that fails waits, which was logged: it does not make the scan fail, unless too many do that were found lately. That servers do not tell, or
/// differ about, what is old or held back says nothing about the deposits of today.
async fn follow_all(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    head: BlockInfo,
    (payouts, rows): (Payouts, Vec<FollowedDeposit>),
) -> Result<(), HostError> {
    let since_s = cx.now_s() - YOUNG_S;
    let counts = |row: &FollowedDeposit| {
        let is_held = payouts == Payouts::Unrecorded && row.status == Status::Confirmed;
        row.found_at >= since_s && !is_held
    };
    let (young, old): (Vec<FollowedDeposit>, Vec<FollowedDeposit>) = rows.into_iter().partition(counts);
    let outcome = follow_each(cx, chain, source, head, (payouts, young)).await;
    if let Err(error) = follow_each(cx, chain, source, head, (payouts, old)).await {
        cx.warn(&format!("the other old deposits of {} are looked up later: {error}", chain.slug));
    }
    outcome
}

async fn follow_each(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    head: BlockInfo,
    (payouts, rows): (Payouts, Vec<FollowedDeposit>),
) -> Result<(), HostError> {
    let mut errors = RowErrors::default();
    for FollowedDeposit { quote, deposit, .. } in rows {
        set_looked_up(cx, deposit).await?;
        let outcome = match payouts {
            Payouts::Unrecorded => follow_unpaid(cx, chain, source, (&quote, head)).await,
            Payouts::Recorded => follow_paid(cx, chain, source, (deposit, head)).await,
        };
        errors.note(cx, &format!("deposit {deposit} of the quote {quote}"), outcome)?;
    }
    Ok(())
}

/// Before the look-up, so that one that fails is last in the next run.
async fn set_looked_up(cx: &PluginContext<Payin>, id: i64) -> Result<(), HostError> {
    cx.write(async move |tx| deposits::set_looked_up(tx, id).await).await
}

/// The confirmations of a deposit that is where it was. One that is gone is taken back, one that is neither waits.
async fn confirmations(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (deposit, head): (&Deposit, BlockInfo),
) -> Result<Option<i64>, HostError> {
    match look_up(source, deposit, head).await? {
        Presence::Here { confirmations } => return Ok(Some(confirmations)),
        Presence::Gone { block } => take_back(cx, chain, deposit, block).await?,
        Presence::Unproven => {
            let (tx, slug) = (deposit.tx, &chain.slug);
            cx.warn(&format!(
                "two servers of {slug} lack the deposit {tx} or its block, and have no other block: it waits"
            ));
        }
    }
    Ok(None)
}

async fn follow_unpaid(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (id, head): (&str, BlockInfo),
) -> Result<(), HostError> {
    let Some(quote) = quotes::find(&cx.db(), id).await? else { return Ok(()) };
    let Some(deposit_id) = quote.deposit else { return Ok(()) };
    let Some(deposit) = deposits::find(&cx.db(), deposit_id).await? else { return Ok(()) };
    match confirmations(cx, chain, source, (&deposit, head)).await? {
        Some(confirmations) => confirm(cx, &quote, &deposit, confirmations).await,
        None => Ok(()),
    }
}

async fn follow_paid(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (id, head): (i64, BlockInfo),
) -> Result<(), HostError> {
    let Some(deposit) = deposits::find(&cx.db(), id).await? else { return Ok(()) };
    let is_here = confirmations(cx, chain, source, (&deposit, head)).await?.is_some();
    if is_here && deposit.lost_at.is_some() {
        cx.write(async move |tx| deposits::set_present(tx, id).await).await?;
    }
    Ok(())
}

async fn confirm(
    cx: &PluginContext<Payin>,
    quote: &Quote,
    deposit: &Deposit,
    confirmations: i64,
) -> Result<(), HostError> {
    let (quote, deposit) = (quote.clone(), deposit.clone());
    cx.write(async move |tx| {
        if !deposits::is_unchanged(tx, &quote, &deposit).await? {
            return Ok(());
        }
        deposits::set_present(tx, deposit.id).await?;
        quotes::set_confirmations(tx, &quote.id, confirmations).await?;
        if confirmations >= quote.required {
            let detail = format!("{confirmations} blocks from block {} on", deposit.block);
            quotes::set_status(tx, &quote.id, Status::Seen, Status::Confirmed, &detail).await?;
        }
        Ok(())
    })
    .await
}

/// The block in which its transaction is now is scanned again, so that the deposit is found there: once, since one that is found there and is
/// another deposit than before stays lost.
async fn take_back(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    deposit: &Deposit,
    block: Option<u64>,
) -> Result<(), HostError> {
    let slug = &*chain.slug;
    let (paused, id, hash) = (chain.slug.clone(), deposit.id, deposit.block_hash);
    let reason = format!("deposit {} left the chain after its payout", deposit.tx);
    let block = block.map(u64::cast_signed);
    let departure = cx
        .write(async move |tx| {
            let departure = deposits::take_back(tx, id, hash, block).await?;
            if let Some(block) = block.filter(|_| departure != Departure::Known) {
                scans::rewind(tx, &paused, block).await?;
            }
            if departure == Departure::Lost {
                pauses::pause(tx, &paused, &reason, None).await.map(drop)?;
            }
            Ok(departure)
        })
        .await?;
    if departure == Departure::Lost {
        let quote = deposit.quote.as_deref().unwrap_or_default();
        cx.error(&format!(
            "the deposit {} on {slug} of the quote {quote} left its chain after its payout was recorded: {slug} is paused",
            deposit.tx
        ));
    } else if departure == Departure::Moved && deposit.state == DepositState::Matched {
        cx.warn(&format!("the deposit {} on {slug} left its chain: it is taken back", deposit.tx));
    }
    Ok(())
}
