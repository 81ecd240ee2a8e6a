//! One window of blocks: the transfers in it, and the new position.

use crate::{
    Payin,
    model::{Deposit, FoundTransfer, TakenChain, Token, TransferArguments, ordered},
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
    scan: &Scan,
    head: BlockInfo,
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
    let from = (scan.scanned_to + 1 - chain.confirmations.cast_signed()).max(0);
    let to = newest.min(scan.scanned_to + WINDOW_BLOCKS);
    let last = source.block(to.cast_unsigned()).await?.ok_or_else(|| moved(chain))?;
    let mut found = Vec::new();
    for token in chain.tokens.clone() {
        let filter = EventFilter::new(token.address, TRANSFER).any_of("to", &[chain.deposit])?;
        let events = source.logs::<TransferArguments>(filter, from.cast_unsigned(), to.cast_unsigned()).await?;
        found.append(&mut own(chain, &token, events));
    }
    // Had a reorganisation come meanwhile, the events could be those of another branch than the position.
    if source.block(to.cast_unsigned()).await? != Some(last) {
        return Err(moved(chain));
    }
    let missing = missing(cx, chain, source, from, &found).await?;
    let (scan, slug) = (scan.clone(), chain.slug.clone());
    let is_moved = cx
        .write(async move |tx| {
            if !scans::advance(tx, &scan, to, Some(last.hash)).await? {
                return Ok(false);
            }
            for deposit in &missing {
                deposits::take_back(tx, deposit.id, deposit.block_hash).await?;
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

/// The transfers of this token to the address. The servers were asked for exactly these.
fn own(chain: &TakenChain, token: &Token, mut events: Vec<ChainEvent<TransferArguments>>) -> Vec<FoundTransfer> {
    events.retain(|event| event.address == token.address && event.args.to == chain.deposit);
    ordered(&token.symbol, events)
}

/// Stored deposits of these blocks that were not found again and have no receipt there.
async fn missing(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    from: i64,
    found: &[FoundTransfer],
) -> Result<Vec<Deposit>, HostError> {
    let mut missing = Vec::new();
    for deposit in deposits::unmatched_from(&cx.db(), &chain.slug, from).await? {
        let is_found = found
            .iter()
            .any(|other| (other.token, other.tx, other.ordinal) == (deposit.token, deposit.tx, deposit.ordinal));
        if is_found {
            continue;
        }
        let receipt = source.receipt(deposit.tx).await?;
        if !receipt.is_some_and(|receipt| deposit.is_in(&receipt, chain.deposit)) {
            missing.push(deposit);
        }
    }
    Ok(missing)
}
