//! Coins of a chain itself that come to a deposit address, while a quote of them waits for a deposit.
//!
//! The rules: a transfer at the top of a transaction that succeeded, in a block that two servers tell alike, is a deposit like one of a
//! token. What came to the address otherwise, because the balance says so, is the operator's: it is a deposit without a transaction, which
//! matches nothing by itself. Of long ranges only the parts are read in which the balance has changed.

use super::moved_blocks::moved;
use crate::{
    Payin,
    model::{FoundTransfer, NATIVE, TakenChain, Units},
    store::{
        quotes,
        scans::{FAILURES_MAX, Scan},
    },
};
use alloy_primitives::U256;
use futures_util::future::join_all;
use plugin_api::{
    Address, HostError, PluginContext, Wei,
    chain::{BlockInfo, BlockTransactions, Chain, TransactionInfo},
};

/// Blocks of a window: where balances cannot be compared, all of them are read.
const WINDOW_BLOCKS: i64 = 400;
/// So many blocks are read whole, whatever the balance says: it is the same again after a deposit that was sent on at once. On the fastest of the
/// named chains this is more than what comes between two scans.
const WHOLE_BLOCKS_MAX: i64 = 100;
/// A transfer of less than this part of the smallest quote that is open is no deposit.
const LEAST_PART: u64 = 2;
/// Blocks that are asked for at the same time.
const AT_ONCE: usize = 8;

/// An address to which quotes have coins sent, and what they call these.
pub struct NativeDestination {
    asset: String,
    address: Address,
    /// What is less is not looked at: so nobody makes scans long with many small transfers.
    least: Units,
}

/// What is watched for coins.
pub async fn destinations(cx: &PluginContext<Payin>, chain: &TakenChain) -> Result<Vec<NativeDestination>, HostError> {
    let mut destinations = Vec::new();
    for (asset, text, smallest) in quotes::native_destinations(&cx.db(), &chain.slug).await? {
        let smallest: Units = smallest.trim_start_matches('0').parse().unwrap_or_default();
        let least = Wei(smallest.0 / U256::from(LEAST_PART));
        match text.parse() {
            Ok(address) => destinations.push(NativeDestination { asset, address, least }),
            Err(error) => cx.error(&format!("quotes of {} have the deposit address `{text}`: {error}", chain.slug)),
        }
    }
    Ok(destinations)
}

/// The last block of a window.
pub fn last_block(destinations: &[NativeDestination], scanned_to: i64, to: i64) -> i64 {
    if destinations.is_empty() { to } else { to.min(scanned_to + WINDOW_BLOCKS) }
}

/// What came to these addresses in the blocks after the position, up to and with `to`.
pub async fn transfers(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (scan, to): (&Scan, i64),
    destinations: &[NativeDestination],
) -> Result<Vec<FoundTransfer>, HostError> {
    let mut found = Vec::new();
    for destination in destinations {
        let mut ranges = vec![(scan.scanned_to + 1, to)];
        while let Some((from, to)) = ranges.pop() {
            if to - from < WHOLE_BLOCKS_MAX {
                found.append(&mut of_blocks(cx, chain, source, scan, (destination, from, to)).await?);
            } else if !is_unchanged(source, destination.address, (from, to)).await {
                let middle = from + (to - from) / 2;
                ranges.extend([(middle + 1, to), (from, middle)]);
            }
        }
    }
    Ok(found)
}

/// Whether the balance before and after these blocks is the same. What cannot be read may have changed.
async fn is_unchanged(source: &Chain<'_>, address: Address, (from, to): (i64, i64)) -> bool {
    match balances(source, address, (from, to)).await {
        Ok((before, after)) => before == after,
        Err(_) => false,
    }
}

async fn balances(source: &Chain<'_>, address: Address, (from, to): (i64, i64)) -> Result<(Units, Units), HostError> {
    let before = match from.cast_unsigned().checked_sub(1) {
        Some(block) => source.balance(address, Some(block)).await?,
        None => Units::ZERO,
    };
    Ok((before, source.balance(address, Some(to.cast_unsigned())).await?))
}

/// A block, and what its transactions moved.
struct BlockFlows {
    block: BlockInfo,
    arrived: Units,
    left: Units,
}

async fn of_blocks(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    scan: &Scan,
    (destination, from, to): (&NativeDestination, i64, i64),
) -> Result<Vec<FoundTransfer>, HostError> {
    let (mut found, mut sums) = (Vec::new(), Vec::new());
    let numbers: Vec<i64> = (from..=to).collect();
    for some in numbers.chunks(AT_ONCE) {
        let asked = some.iter().map(|number| source.transactions(number.cast_unsigned()));
        for block in join_all(asked).await {
            let block = block?.ok_or_else(|| moved(chain))?;
            sums.push(of_block(chain, source, (destination, &block), &mut found).await?);
        }
    }
    match unexplained(source, destination, &sums).await {
        Ok(mut rest) => found.append(&mut rest),
        // They are compared in the next run. A server that never tells them makes the chain unavailable, and no deposit waits for that.
        Err(error) if scan.failures < FAILURES_MAX => return Err(error),
        Err(error) => {
            let (slug, address) = (&chain.slug, destination.address);
            cx.error(&format!("balances of {address} on {slug} in blocks {from} to {to} cannot be compared: {error}"));
        }
    }
    Ok(found)
}

async fn of_block(
    chain: &TakenChain,
    source: &Chain<'_>,
    (destination, block): (&NativeDestination, &BlockTransactions),
    found: &mut Vec<FoundTransfer>,
) -> Result<BlockFlows, HostError> {
    let mut sums = BlockFlows { block: block.block, arrived: Units::ZERO, left: Units::ZERO };
    let mut large = Vec::new();
    for (place, transaction) in (0_i64..).zip(&block.transactions) {
        let TransactionInfo { from, to, value, .. } = *transaction;
        let (is_to, is_from) = (to == Some(destination.address), from == destination.address);
        if value == Units::ZERO || is_to == is_from {
            continue;
        }
        if is_to && value < destination.least {
            sums.arrived = sums.arrived.saturating_add(value);
        } else {
            large.push((place, transaction));
        }
    }
    for some in large.chunks(AT_ONCE) {
        let receipts = join_all(some.iter().map(|(_, transaction)| source.receipt(transaction.hash))).await;
        for ((place, transaction), receipt) in some.iter().zip(receipts) {
            let receipt = receipt?.ok_or_else(|| moved(chain))?;
            if receipt.block_hash != block.block.hash {
                return Err(moved(chain));
            }
            if !receipt.ok {
                continue;
            }
            let TransactionInfo { hash: tx, from: sender, value: units, .. } = **transaction;
            if sender == destination.address {
                sums.left = sums.left.saturating_add(units);
                continue;
            }
            sums.arrived = sums.arrived.saturating_add(units);
            let without = without_transaction(destination, block.block);
            found.push(FoundTransfer { tx, ordinal: 1, log_index: *place, sender, units, ..without });
        }
    }
    Ok(sums)
}

/// A deposit without a transaction.
fn without_transaction(destination: &NativeDestination, block: BlockInfo) -> FoundTransfer {
    FoundTransfer {
        asset: destination.asset.clone(),
        token: NATIVE,
        address: destination.address,
        tx: block.hash,
        ordinal: 0,
        log_index: -1,
        block: block.number.cast_signed(),
        block_hash: block.hash,
        block_time: block.time_s,
        sender: Address::ZERO,
        units: Units::ZERO,
    }
}

/// What these blocks, which follow each other, added to the balance beyond their transactions. Fees that the address paid hide as much of it.
async fn unexplained(
    source: &Chain<'_>,
    destination: &NativeDestination,
    blocks: &[BlockFlows],
) -> Result<Vec<FoundTransfer>, HostError> {
    let (mut found, mut ranges) = (Vec::new(), vec![blocks]);
    while let Some(range) = ranges.pop() {
        let ([first, ..], [.., last]) = (range, range) else { continue };
        let bounds = (first.block.number.cast_signed(), last.block.number.cast_signed());
        let (before, after) = balances(source, destination.address, bounds).await?;
        let sum =
            |of: fn(&BlockFlows) -> Units| range.iter().fold(Units::ZERO, |sum, block| sum.saturating_add(of(block)));
        let expected = before.saturating_add(sum(|block| block.arrived));
        let counted = after.saturating_add(sum(|block| block.left));
        if counted == expected {
            continue;
        }
        if range.len() > 1 {
            let (earlier, later) = range.split_at(range.len() / 2);
            ranges.extend([later, earlier]);
            continue;
        }
        let units = counted.saturating_sub(expected);
        if units != Units::ZERO && units >= destination.least {
            found.push(FoundTransfer { units, ..without_transaction(destination, last.block) });
        }
    }
    Ok(found)
}
