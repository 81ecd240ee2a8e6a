//! The pools of the chain's exchange, at the block of a snapshot.

use super::balances::time_of;
use crate::model::{MarketReading, Position};
use coin_market::{Venue, read_pools};
use plugin_api::{HostError, HostHandle, chain::MAIN};

/// What the venue says.
pub async fn read(host: &HostHandle, venue: &Venue, at: &Position, now_ms: i64) -> Result<MarketReading, HostError> {
    let pools = read_pools(&host.chain(MAIN), venue, at.block).await?;
    // The pools were asked at the block's number.
    time_of(host, at).await?;
    Ok(MarketReading { venue: venue.clone(), block: at.block, read_at: now_ms, price: venue.primary(pools) })
}
