//! What the venue said last.

use coin_market::{Pool, Venue};
use serde::{Deserialize, Serialize};

/// What the venue said at a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketReading {
    /// As it was configured then: what another one said is not served.
    pub venue: Venue,
    pub block: u64,
    /// Unix milliseconds.
    pub read_at: i64,
    /// None where no pool is deep enough.
    pub price: Option<Pool>,
}
