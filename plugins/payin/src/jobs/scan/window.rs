//! One window of blocks: the transfers in it, and the new position.

use super::{
    native,
    presence::{Presence, look_up},
    watched::Watched,
};
use crate::{
    Payin,
    jobs::RowErrors,
    model::{Deposit, FoundTransfer, TakenChain, TransferArguments, ordered},
    store::{
        deposits,
        scans::{self, Scan},
    },
};
use plugin_api::{
    HostError, HostErrorCode, PluginContext,
    chain::{BlockInfo, Chain, EventFilter},
    contracts::ChainEvent,
};

/// Most blocks of a window. Where a server refuses so many, the gateway asks it for halves of them.
const WINDOW_BLOCKS: i64 = 2000;
/// Most blocks before the position that are read again. A server that knows a block has its events some blocks later at the latest, and what a
/// reorganisation changes is found by the hash of the position.
const OVERLAP_MAX: i64 = 1000;
pub const TRANSFER: &str = "Transfer(address indexed from, address indexed to, uint256 value)";

/// The error when blocks move while they are read: the next run reads them again.
pub fn moved(chain: &TakenChain) -> HostError {
    let message = format!("the blocks of {} changed while they were read", chain.slug);
    HostError::new(HostErrorCode::Unavailable, message)
}

pub async fn scan(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    watched: &[Watched],
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
    let mut found = Vec::new();
    for watched in watched {
        let filter = EventFilter::new(watched.token.address, TRANSFER).any_of("to", &watched.addresses)?;
        let events = source.logs::<TransferArguments>(filter, from.cast_unsigned(), to.cast_unsigned()).await?;
        found.append(&mut own(watched, events));
    }
    found.append(&mut native::transfers(cx, chain, source, (scan, to), &native).await?);
    // Had a reorganisation come meanwhile, the events could be those of another branch than the position.
    if source.block(to.cast_unsigned()).await? != Some(last) {
        return Err(moved(chain));
    }
    let missing = missing(cx, chain, source, (from, head), &found).await?;
    let (scan, slug) = (scan.clone(), chain.slug.clone());
    let is_moved = cx
        .write(async move |tx| {
            if !scans::advance(tx, &scan, to, Some(last.hash)).await? {
                return Ok(false);
            }
            for deposit in &missing {
                deposits::take_back(tx, deposit.id, deposit.block_hash, None).await?;
            }
            for transfer in &found {
                deposits::note(tx, &slug, transfer).await?;
            }
            Ok(true)
        })
        .await?;
    // Another gateway has scanned these blocks: its rows stand.
    if is_moved { Ok(()) } else { Err(moved(chain)) }
}

/// The first and the last block of the window.
fn bounds(scanned_to: i64, newest: i64, confirmations: i64) -> (i64, i64) {
    let from = (scanned_to + 1 - confirmations.min(OVERLAP_MAX)).max(0);
    (from, newest.min(scanned_to + WINDOW_BLOCKS))
}

/// The transfers of this token to its addresses. The servers were asked for exactly these.
fn own(watched: &Watched, mut events: Vec<ChainEvent<TransferArguments>>) -> Vec<FoundTransfer> {
    events.retain(|event| event.address == watched.token.address && watched.addresses.contains(&event.args.to));
    ordered(&watched.token.symbol, events)
}

/// Stored deposits of these blocks that were not found again and are gone.
async fn missing(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (from, head): (i64, BlockInfo),
    found: &[FoundTransfer],
) -> Result<Vec<Deposit>, HostError> {
    let (mut missing, mut errors) = (Vec::new(), RowErrors::default());
    for id in deposits::unmatched_from(&cx.db(), &chain.slug, from).await? {
        let outcome = match missing_one(cx, source, (id, head), found).await {
            Ok(deposit) => {
                missing.extend(deposit);
                Ok(())
            }
            Err(error) => Err(error),
        };
        errors.note(cx, &format!("deposit {id} of {}", chain.slug), outcome)?;
    }
    errors.finish().map(|()| missing)
}

/// The deposit, when it is missing.
async fn missing_one(
    cx: &PluginContext<Payin>,
    source: &Chain<'_>,
    (id, head): (i64, BlockInfo),
    found: &[FoundTransfer],
) -> Result<Option<Deposit>, HostError> {
    let Some(deposit) = deposits::find(&cx.db(), id).await? else { return Ok(None) };
    if found.iter().any(|other| deposit.is_of(other)) {
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
}
