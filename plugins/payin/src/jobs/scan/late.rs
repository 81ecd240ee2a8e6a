//! Deposits that come to the address of a quote that is over: searched once a day for 90 days, so that the operator hears of them. Nothing is
//! paid for them by itself.

use super::{
    moved_blocks::moved,
    watched::{ADDRESSES_MAX, WatchedToken},
    window::{TRANSFER, all_sure_decimals, own},
};
use crate::{
    Payin,
    model::{TakenChain, TransferArguments, least_units},
    store::{addresses, deposits},
};
use plugin_api::{
    Address, HostError, PluginContext,
    chain::{BlockInfo, Chain, EventFilter},
};

/// Blocks of one search, and searches of one run.
const BLOCKS: i64 = 2000;
const SEARCHES_MAX: usize = 5;

pub async fn search(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    source: &Chain<'_>,
    (watched, head): (&[WatchedToken], BlockInfo),
) -> Result<(), HostError> {
    // Blocks with all confirmations: what is found there stays.
    let safe = head.number.saturating_sub(chain.confirmations).cast_signed();
    for _ in 0..SEARCHES_MAX {
        let now_s = cx.now_s();
        let limit = u32::try_from(ADDRESSES_MAX).unwrap_or(u32::MAX);
        let late = addresses::late(&cx.db(), &chain.slug, now_s, limit).await?;
        let (Some(first), Some(last)) = (late.first(), late.last().cloned()) else { return Ok(()) };
        let (from, to) = (first.late_from, safe.min(first.late_from + BLOCKS - 1));
        let mut found = Vec::new();
        if from <= to {
            let before = source.block(to.cast_unsigned()).await?.ok_or_else(|| moved(chain))?;
            let searched: Vec<Address> = late.iter().map(|late| late.address).collect();
            for watched in watched {
                let filter = EventFilter::new(watched.token.address, TRANSFER).any_of("to", &searched)?;
                let events = source.logs::<TransferArguments>(filter, from.cast_unsigned(), to.cast_unsigned()).await?;
                let least = least_units(watched.token.decimals);
                found.append(&mut own((&watched.token, &searched), events, least).0);
            }
            if source.block(to.cast_unsigned()).await? != Some(before) {
                return Err(moved(chain));
            }
        }
        let (slug, decimals) = (chain.slug.clone(), all_sure_decimals(cx, chain, watched));
        let unreadable = cx
            .write(async move |tx| {
                let unreadable = deposits::note_all(tx, &slug, &found, &decimals).await?;
                addresses::set_searched(tx, &slug, (&last, now_s), (to, to >= safe)).await?;
                Ok(unreadable)
            })
            .await?;
        for reason in unreadable {
            cx.error(&format!("a late transfer on {} is left out: {reason}", chain.slug));
        }
    }
    Ok(())
}
