//! Scans the chains for deposits, matches them with quotes, and looks whether they are still there.
//!
//! The rule: every response comes from two RPC servers that agree. A window's deposits and the new position are one write. What a server may
//! have left out at the head is read again: each scan begins some blocks before its position, and further back when the block of the position
//! has another hash.

mod check;
mod decimals;
mod late;
mod moved_blocks;
mod native;
mod presence;
mod watched;
mod window;

pub use decimals::are_right;
pub use presence::{Presence, look_up};

use super::{RowErrors, pay::PAY_JOB};
use crate::{
    Payin,
    model::{Status, TakenChain},
    store::{quotes, scans},
};
use futures_util::future::join_all;
use plugin_api::{
    HostError, HostErrorCode, Job, PluginContext, Tx,
    chain::{BlockInfo, Chain},
};
use std::time::Duration;

/// Seconds between two scans.
pub const INTERVAL_S: u64 = 20;
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long one run scans windows of a chain; the next run begins a moment later. What other chains matched waits for the end of the run.
const WINDOWS_MAX_MS: i64 = 10_000;
/// Blocks before the head where the first scan of a chain begins, and before a position that is on another branch.
const BACK_BLOCKS: i64 = 200;
/// What one run reads again, so that a reorganisation makes no chain unavailable. Deposits that left older blocks are found by themselves.
const BACK_BLOCKS_MAX: i64 = 9000;
/// What everybody reads of a scan that failed; the log has the reason.
const NOT_ALIKE: &str = "two of its servers must answer alike, and did not";
const UNREADABLE: &str = "its servers answered what cannot be processed";
const NOT_STORED: &str = "the gateway could not store what it found";
/// How long quotes are kept that expired without a deposit, and how many one run deletes.
const KEPT_S: i64 = 30 * 86_400;
const DELETED_MAX: u32 = 2000;
/// Quotes of a chain that one run marks as expired.
const EXPIRED_MAX: u32 = 200;

const NAME: &str = "scan";

pub fn job() -> Job<Payin> {
    Job::every(NAME, Duration::from_secs(INTERVAL_S), scan).timeout(TIMEOUT)
}

async fn scan(cx: PluginContext<Payin>) -> Result<(), HostError> {
    decimals::forget_removed(&cx).await?;
    let mut scans = Vec::new();
    for chain in cx.plugin().chains.clone() {
        scans.push(scan_chain(cx.clone(), chain));
    }
    let outcomes: Result<Vec<bool>, HostError> = join_all(scans).await.into_iter().collect();
    let has_more = outcomes?.contains(&true);
    delete_old(&cx).await?;
    cx.wake(PAY_JOB).await?;
    if has_more { cx.wake(NAME).await } else { Ok(()) }
}

/// Quotes cost nothing, and most get no deposit.
async fn delete_old(cx: &PluginContext<Payin>) -> Result<(), HostError> {
    let before_s = cx.now_s() - KEPT_S;
    if !quotes::are_old(&cx.db(), before_s).await? {
        return Ok(());
    }
    cx.write(async move |tx| quotes::delete_old(tx, before_s, DELETED_MAX).await).await
}

/// Returns whether the next run has something to do at once. A chain that cannot be read holds no other one up.
async fn scan_chain(cx: PluginContext<Payin>, chain: TakenChain) -> Result<bool, HostError> {
    match run(&cx, &chain).await {
        Ok(has_more) => Ok(has_more),
        Err(error) => {
            let slug = chain.slug;
            cx.warn(&format!("the deposits of {slug} cannot be scanned now: {error}"));
            let text = match error.is_transient() {
                true => NOT_ALIKE,
                false if error.is(HostErrorCode::Closed) => NOT_STORED,
                false => UNREADABLE,
            }
            .to_owned();
            cx.write(async move |tx| scans::fail(tx, &slug, &text).await).await.map(|()| false)
        }
    }
}

/// Returns whether blocks or deposits are left that one run was not long enough for.
async fn run(cx: &PluginContext<Payin>, chain: &TakenChain) -> Result<bool, HostError> {
    let source = cx.chain(&chain.slug).quorum();
    let head = source.head().await?;
    decimals::check(cx, chain, &source).await?;
    let watched = watched::watched(cx, chain).await?;
    let (mut has_blocks, mut has_moved) = (true, false);
    let begun_ms = cx.now_ms();
    while has_blocks && cx.now_ms() - begun_ms < WINDOWS_MAX_MS {
        let scan = position(cx, chain, &source, head).await?;
        window::scan(cx, chain, &source, &watched, (&scan, head)).await?;
        let now = scans::find(&cx.db(), &chain.slug).await?;
        let moves = now.is_some_and(|now| now.scanned_to > scan.scanned_to);
        has_moved |= moves;
        has_blocks = !is_complete(cx, chain, head).await?;
        if !moves {
            break;
        }
    }
    let matched = check::match_due(cx, chain, &source, &watched).await;
    presence::follow(cx, chain, &source, head).await?;
    let has_deposits = matched?;
    // Read again: where a deposit has moved, its block is to be scanned again before its quote may expire.
    if is_complete(cx, chain, head).await? {
        complete(cx, chain, &source, head).await?;
        // Nobody waits for what is late.
        if let Err(error) = late::search(cx, chain, &source, (&watched, head)).await {
            cx.warn(&format!("late deposits on {} are searched for later: {error}", chain.slug));
        }
    }
    // A run that could not move on would not do better at once.
    Ok(has_deposits || (has_blocks && has_moved))
}

/// Whether the chain is scanned up to its head, and nothing is to be scanned again.
async fn is_complete(cx: &PluginContext<Payin>, chain: &TakenChain, head: BlockInfo) -> Result<bool, HostError> {
    let scan = scans::find(&cx.db(), &chain.slug).await?;
    Ok(scan.is_some_and(|scan| scan.hash.is_some() && scan.scanned_to >= head.number.cast_signed()))
}

/// The position of the scan; the first one is some blocks before the head, and one on another branch goes back.
async fn position(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    head: BlockInfo,
) -> Result<scans::Scan, HostError> {
    let slug = &*chain.slug;
    if let Some(scan) = scans::find(&cx.db(), slug).await?.filter(|scan| scan.scanned_to >= 0) {
        let Some(hash) = scan.hash else { return Ok(scan) };
        let block = source.block(scan.scanned_to.cast_unsigned()).await?;
        if block.is_some_and(|block| block.hash == hash) {
            return Ok(scan);
        }
        let back = chain.confirmations.cast_signed().saturating_mul(4).clamp(BACK_BLOCKS, BACK_BLOCKS_MAX);
        let to = (scan.scanned_to.min(head.number.cast_signed()) - back).max(0);
        cx.warn(&format!("{slug} was reorganised: its deposits are scanned again from block {to} on"));
        let name = chain.slug.clone();
        cx.write(async move |tx| scans::rewind(tx, &name, to).await).await?;
    } else {
        let first = (head.number.cast_signed() - BACK_BLOCKS).max(0);
        let block = source.block(first.cast_unsigned()).await?;
        let Some(block) = block else { return Err(moved_blocks::moved(chain)) };
        let name = chain.slug.clone();
        cx.write(async move |tx| scans::begin(tx, &name, first, block.hash).await).await?;
    }
    scans::find(&cx.db(), slug).await?.ok_or_else(|| moved_blocks::moved(chain))
}

/// Records that the chain is scanned up to its head, and ends quotes whose grace has passed.
async fn complete(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    head: BlockInfo,
) -> Result<(), HostError> {
    let slug = &*chain.slug;
    let safe = head.number.saturating_sub(chain.confirmations);
    let safe_time = source.block(safe).await?.map_or(0, |block| block.time_s);
    let name = chain.slug.clone();
    cx.write(async move |tx| {
        scans::complete(tx, &name, safe_time).await?;
        quotes::free_amounts(tx, &name, safe_time).await
    })
    .await?;
    let mut errors = RowErrors::default();
    for id in quotes::lapsed(&cx.db(), slug, safe_time, EXPIRED_MAX).await? {
        let (row, outcome) = (format!("the quote {id}"), cx.write(async move |tx| expire(tx, &id).await).await);
        errors.note(cx, &row, outcome)?;
    }
    errors.finish()
}

async fn expire(tx: &Tx, id: &str) -> Result<(), HostError> {
    for from in [Status::Quoted, Status::Superseded] {
        quotes::set_status(tx, id, from, Status::Expired, "no deposit came in time").await?;
    }
    Ok(())
}
