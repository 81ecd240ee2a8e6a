//! The pools of the chain's exchange, at the block of a snapshot.

use super::balances::time_of;
use crate::model::{MarketReading, PoolPrice, Position, Reserves, Venue};
use plugin_api::{
    Address, HostError, HostHandle, Wei,
    chain::{ContractCall, MAIN},
};

const PAIR: &str = "getPair(address,address) returns (address)";
const TOKEN_0: &str = "token0() returns (address)";
const RESERVES: &str = "getReserves() returns (uint112,uint112,uint32)";

/// What the venue says. A pool that does not exist or does not respond as one is none.
pub async fn read(host: &HostHandle, venue: &Venue, at: &Position, now_ms: i64) -> Result<MarketReading, HostError> {
    let chain = host.chain(MAIN);
    let pair = |token: Address| ContractCall::new(venue.factory, PAIR).arg(venue.wrapped)?.arg(token);
    let calls = venue.quotes.iter().map(|quote| pair(quote.token)).collect::<Result<Vec<_>, _>>()?;
    let pairs = chain.calls::<Address>(calls, Some(at.block)).await?;
    let pairs = venue.quotes.iter().zip(pairs).filter_map(|(quote, pair)| Some((quote, pair.ok()?)));
    let pairs: Vec<_> = pairs.filter(|(_, pair)| *pair != Address::ZERO).collect();
    let of_each = |function: &str| pairs.iter().map(|(_, pair)| ContractCall::new(*pair, function)).collect::<Vec<_>>();
    let mut pools: Vec<PoolPrice> = Vec::new();
    if !pairs.is_empty() {
        let firsts = chain.calls::<Address>(of_each(TOKEN_0), Some(at.block)).await?;
        let reserves = chain.calls::<(Wei, Wei, u32)>(of_each(RESERVES), Some(at.block)).await?;
        for (((quote, pair), first), reserves) in pairs.iter().zip(firsts).zip(reserves) {
            let (Ok(first), Ok((of_first, of_second, _))) = (first, reserves) else { continue };
            let reserves = match first {
                first if first == venue.wrapped => Reserves { wrapped: of_first, quote: of_second },
                first if first == quote.token => Reserves { wrapped: of_second, quote: of_first },
                _ => continue,
            };
            pools.extend(quote.price(*pair, reserves));
        }
    }
    // The pools were asked at the block's number.
    time_of(host, at).await?;
    Ok(MarketReading { venue: venue.clone(), block: at.block, read_at: now_ms, price: venue.primary(pools) })
}
