//! One window of blocks: the transfers in it, and the new position.

use super::{
    moved_blocks::moved,
    native,
    presence::{Presence, look_up},
    watched::{ADDRESSES_MAX, WatchedToken},
};
use crate::{
    Payin,
    jobs::RowErrors,
    model::{
        Deposit, FoundTransfer, NATIVE, NATIVE_DECIMALS, TakenChain, Token, TransferArguments, Units, least_units,
        ordered,
    },
    store::{
        deposits,
        scans::{self, Scan},
    },
};
use plugin_api::{
    Address, Hash256, HostError, HostErrorCode, PluginContext, Tx,
    chain::{BlockInfo, Chain, EventFilter},
    contracts::ChainEvent,
};
use std::collections::BTreeMap;

/// Most blocks of a window. Where a server refuses so many, the gateway asks it for halves of them.
const WINDOW_BLOCKS: i64 = 2000;
/// Transfers of one write: one of very many would take longer than a transaction may.
const PART_TRANSFERS: usize = 500;
/// Most blocks before the position that are read again. A server that knows a block has its events some blocks later at the latest, and what a
/// reorganisation changes is found by the hash of the position.
const OVERLAP_MAX: i64 = 1000;
pub const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";

pub async fn scan(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    watched: &[WatchedToken],
    (scan, head): (&Scan, BlockInfo),
) -> Result<(), HostError> {
    let newest = head.number.cast_signed();
    if scan.scanned_to > newest {
        let message =
            format!("the servers of {} have block {newest}, and it was scanned to {}", chain.slug, scan.scanned_to);
        return Err(HostError::new(HostErrorCode::Unavailable, message));
    }
    if scan.scanned_to == newest && scan.hash.is_some() {
        return Ok(());
    }
    let (from, to) = bounds(scan.scanned_to, newest, chain.confirmations.cast_signed());
    // Read after the head: a quote that comes later is for later blocks.
    let native = native::destinations(cx, chain).await?;
    let to = native::last_block(&native, scan.scanned_to, to);
    let last = source.block(to.cast_unsigned()).await?.ok_or_else(|| moved(chain))?;
    let (mut found, mut small) = (Vec::new(), Vec::new());
    for watched in watched {
        let least = sure_decimals(cx, chain, watched).map_or(Units::ZERO, least_units);
        for addresses in watched.addresses.chunks(ADDRESSES_MAX) {
            let filter = EventFilter::new(watched.token.address, TRANSFER).any_of("to", addresses)?;
            let events = source.logs::<TransferArguments>(filter, from.cast_unsigned(), to.cast_unsigned()).await?;
            let (mut large, mut too_small) = own((&watched.token, addresses), events, least);
            found.append(&mut large);
            small.append(&mut too_small);
        }
    }
    found.append(&mut native::transfers(cx, chain, source, (scan, to), &native).await?);
    // Had a reorganisation come meanwhile, the events could be those of another branch than the position.
    if source.block(to.cast_unsigned()).await? != Some(last) {
        return Err(moved(chain));
    }
    let new_small = small.iter().filter(|transfer| transfer.block > scan.scanned_to).count();
    if new_small > 0 {
        cx.info(&format!("{new_small} transfers on {} up to block {to} are too small for deposits", chain.slug));
    }
    let missing = missing(cx, (chain, scan), source, (from, to, head), (&found, &small)).await?;
    write(cx, chain, scan, (to, last.hash), (found, missing, all_sure_decimals(cx, chain, watched))).await
}

/// Transfers, what is missing, and the position. Many transfers are written in parts, before the position: when a later part fails, they are found
/// again.
async fn write(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    scan: &Scan,
    (to, hash): (i64, Hash256),
    (found, missing, decimals): (Vec<FoundTransfer>, Vec<Deposit>, BTreeMap<Address, u8>),
) -> Result<(), HostError> {
    let (rest, parts) = parts(found);
    for part in parts {
        let (scan, decimals) = (scan.clone(), decimals.clone());
        let written = cx.write(async move |tx| note_part(tx, &scan, &part, &decimals).await).await?;
        log_unreadable(cx, chain, written.ok_or_else(|| moved(chain))?);
    }
    let scan = scan.clone();
    let written = cx.write(async move |tx| finish(tx, &scan, (to, hash), (&rest, &missing), &decimals).await).await?;
    // Another gateway has scanned these blocks: its rows stand.
    log_unreadable(cx, chain, written.ok_or_else(|| moved(chain))?);
    Ok(())
}

/// `None` when the position is another one.
async fn note_part(
    tx: &Tx,
    scan: &Scan,
    part: &[FoundTransfer],
    decimals: &BTreeMap<Address, u8>,
) -> Result<Option<Vec<String>>, HostError> {
    if !scans::is_at(tx, scan).await? {
        return Ok(None);
    }
    deposits::note_all(tx, &scan.chain, part, decimals).await.map(Some)
}

/// `None` when the position is another one.
async fn finish(
    tx: &Tx,
    scan: &Scan,
    (to, hash): (i64, Hash256),
    (rest, missing): (&[FoundTransfer], &[Deposit]),
    decimals: &BTreeMap<Address, u8>,
) -> Result<Option<Vec<String>>, HostError> {
    if !scans::advance(tx, scan, to, Some(hash)).await? {
        return Ok(None);
    }
    for deposit in missing {
        // One that an operator has assigned since it was read is looked up with its quote.
        if deposits::find(tx, deposit.id).await?.is_some_and(|current| current.quote.is_none()) {
            deposits::take_back(tx, deposit.id, deposit.block_hash, None).await?;
        }
    }
    deposits::note_all(tx, &scan.chain, rest, decimals).await.map(Some)
}

fn log_unreadable(cx: &PluginContext<Payin>, chain: &TakenChain, unreadable: Vec<String>) {
    for reason in unreadable {
        cx.error(&format!("a transfer on {} is left out: {reason}", chain.slug));
    }
}

/// The first and the last block of the window.
fn bounds(scanned_to: i64, newest: i64, confirmations: i64) -> (i64, i64) {
    let from = (scanned_to + 1 - confirmations.min(OVERLAP_MAX)).max(0);
    (from, newest.min(scanned_to + WINDOW_BLOCKS))
}

/// The decimals of a token, unless the configuration may be wrong about them: nothing may be left out then. Those of quotes were right.
fn sure_decimals(cx: &PluginContext<Payin>, chain: &TakenChain, watched: &WatchedToken) -> Option<u8> {
    let token = &watched.token;
    let is_configured = chain.tokens.iter().any(|configured| configured.address == token.address);
    let is_sure = !is_configured || cx.plugin().has_right_decimals(&chain.slug, token);
    is_sure.then_some(token.decimals)
}

/// Decimals of tokens by their addresses, and those of coins.
pub fn all_sure_decimals(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    watched: &[WatchedToken],
) -> BTreeMap<Address, u8> {
    let sure = |watched: &WatchedToken| Some((watched.token.address, sure_decimals(cx, chain, watched)?));
    watched.iter().filter_map(sure).chain([(NATIVE, NATIVE_DECIMALS)]).collect()
}

/// The transfers of this token to its addresses, and those that are too small for deposits. The servers were asked for exactly these.
pub fn own(
    (token, addresses): (&Token, &[Address]),
    mut events: Vec<ChainEvent<TransferArguments>>,
    least: Units,
) -> (Vec<FoundTransfer>, Vec<FoundTransfer>) {
    events.retain(|event| event.address == token.address && addresses.contains(&event.args.to));
    ordered(&token.symbol, events).into_iter().partition(|transfer| transfer.units >= least)
}

/// The last transfers, and those before them in parts, each for one write.
fn parts(mut found: Vec<FoundTransfer>) -> (Vec<FoundTransfer>, Vec<Vec<FoundTransfer>>) {
    found.sort_by_key(|transfer| (transfer.block, transfer.log_index));
    let mut parts = Vec::new();
    while found.len() > PART_TRANSFERS {
        let rest = found.split_off(PART_TRANSFERS);
        parts.push(std::mem::replace(&mut found, rest));
    }
    (found, parts)
}

/// Stored deposits of these blocks that were not found again and are gone. One that servers do not agree about waits for the next window, and
/// holds no other one up: before it is paid it is looked up with its quote.
async fn missing(
    cx: &PluginContext<Payin>,
    (chain, scan): (&TakenChain, &Scan),
    source: &Chain<'_>,
    (from, to, head): (i64, i64, BlockInfo),
    (found, small): (&[FoundTransfer], &[FoundTransfer]),
) -> Result<Vec<Deposit>, HostError> {
    let (mut missing, mut errors) = (Vec::new(), RowErrors::default());
    for id in deposits::unmatched_in(&cx.db(), &chain.slug, (from, to)).await? {
        let outcome = match missing_one(cx, source, (scan, id, head), (found, small)).await {
            Ok(deposit) => {
                missing.extend(deposit);
                Ok(())
            }
            Err(error) => Err(error),
        };
        errors.note(cx, &format!("deposit {id} of {}", chain.slug), outcome)?;
    }
    Ok(missing)
}

/// The deposit, when it is missing.
async fn missing_one(
    cx: &PluginContext<Payin>,
    source: &Chain<'_>,
    (scan, id, head): (&Scan, i64, BlockInfo),
    (found, small): (&[FoundTransfer], &[FoundTransfer]),
) -> Result<Option<Deposit>, HostError> {
    let Some(deposit) = deposits::find(&cx.db(), id).await? else { return Ok(None) };
    // Coins are not searched for again below the position. There are many of them when somebody wants scans to be long.
    if deposit.token == NATIVE && deposit.block <= scan.scanned_to {
        return Ok(None);
    }
    if found.iter().chain(small).any(|other| deposit.is_of(other)) {
        return Ok(None);
    }
    let is_gone = matches!(look_up(source, &deposit, head).await?, Presence::Gone { .. });
    Ok(is_gone.then_some(deposit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gateway answers for events of 10,000 blocks at a time.
    #[test]
    fn no_window_is_too_long_for_one_request() {
        assert_eq!(bounds(50, 60, 3), (48, 60));
        assert_eq!(bounds(2, 60, 20), (0, 60));
        let (from, to) = bounds(500_000, 900_000, 100_000);
        assert_eq!(to - from + 1, OVERLAP_MAX + WINDOW_BLOCKS);
    }

    #[test]
    fn many_transfers_are_written_in_parts_and_in_order() {
        let transfer = |block| FoundTransfer {
            asset: "USDC".to_owned(),
            token: Address::ZERO,
            address: Address::ZERO,
            tx: Hash256([0; 32]),
            ordinal: 1,
            log_index: 0,
            block,
            block_hash: Hash256([0; 32]),
            block_time: 0,
            sender: Address::ZERO,
            units: least_units(6),
        };
        let (rest, written) = parts((0..1200).rev().map(transfer).collect());
        let blocks: Vec<i64> = written.iter().chain([&rest]).flatten().map(|transfer| transfer.block).collect();
        assert!(blocks.into_iter().eq(0..1200));
        assert_eq!((written.len(), rest.len()), (2, 200));
        assert_eq!((least_units(6).to_string(), least_units(0).to_string()), ("500000".to_owned(), "1".to_owned()));
    }
}
