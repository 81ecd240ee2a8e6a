//! Pools on a chain. The caller says at which block, and looks afterwards whether that is still the chain's.

use super::{Pool, QuoteToken, Reserves, Venue};
use plugin_api::{
    Address, HostError, Wei,
    chain::{Chain, ContractCall},
};

const PAIR: &str = "getPair(address,address) returns (address)";
const TOKEN_0: &str = "token0() returns (address)";
const RESERVES: &str = "getReserves() returns (uint112,uint112,uint32)";

/// The pools that the venue's factory names for the wrapped coin and each quote token.
pub async fn read_pools(chain: &Chain<'_>, venue: &Venue, block: u64) -> Result<Vec<Pool>, HostError> {
    let pair = |token: Address| ContractCall::new(venue.factory, PAIR).arg(venue.wrapped)?.arg(token);
    let calls = venue.quotes.iter().map(|quote| pair(quote.token)).collect::<Result<Vec<_>, _>>()?;
    let pairs = chain.calls::<Address>(calls, Some(block)).await?;
    let pairs = venue.quotes.iter().zip(pairs).filter_map(|(quote, pair)| Some((quote, pair.ok()?)));
    let pairs: Vec<_> = pairs.filter(|(_, pair)| *pair != Address::ZERO).collect();
    read(chain, venue.wrapped, &pairs, block).await
}

/// A pool whose address is known; none where it is no pool of these two tokens.
pub async fn read_pair(
    chain: &Chain<'_>,
    wrapped: Address,
    (quote, pair): (&QuoteToken, Address),
    block: u64,
) -> Result<Option<Pool>, HostError> {
    Ok(read(chain, wrapped, &[(quote, pair)], block).await?.pop())
}

async fn read(
    chain: &Chain<'_>,
    wrapped: Address,
    pairs: &[(&QuoteToken, Address)],
    block: u64,
) -> Result<Vec<Pool>, HostError> {
    let of_each = |function: &str| pairs.iter().map(|(_, pair)| ContractCall::new(*pair, function)).collect::<Vec<_>>();
    let mut pools = Vec::new();
    if pairs.is_empty() {
        return Ok(pools);
    }
    let firsts = chain.calls::<Address>(of_each(TOKEN_0), Some(block)).await?;
    let reserves = chain.calls::<(Wei, Wei, u32)>(of_each(RESERVES), Some(block)).await?;
    for (((quote, pair), first), reserves) in pairs.iter().zip(firsts).zip(reserves) {
        let (Ok(first), Ok((of_first, of_second, changed_at))) = (first, reserves) else { continue };
        let reserves = match first {
            first if first == wrapped => Reserves { wrapped: of_first, quote: of_second, changed_at },
            first if first == quote.token => Reserves { wrapped: of_second, quote: of_first, changed_at },
            _ => continue,
        };
        pools.extend(quote.pool(*pair, reserves));
    }
    Ok(pools)
}
