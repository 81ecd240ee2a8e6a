//! What the routes take and answer.

use plugin_api::{Address, Hash256, JsonSchema};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub struct NewDrip {
    /// Who gets the coins: an address that has sent nothing yet, and has less than a drip.
    #[serde(default)]
    pub address: String,
    /// The answer to the puzzle, at most 64 characters; needed while `pow` of `GET /api/faucet` is not null.
    pub pow: Option<String>,
}

/// Coins on their way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DripView {
    pub address: Address,
    pub tx_hash: Hash256,
    /// The same.
    pub tx: Hash256,
    pub amount_fmx: String,
    /// What to do next.
    pub next: String,
}

/// The faucet and its limits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FaucetView {
    /// Whether it has a key to send with.
    pub enabled: bool,
    pub drip_fmx: String,
    pub per_address: String,
    pub per_ip: String,
    pub global_per_day: i64,
    pub relayer_reserve_fmx: String,
    /// Drips of this day of UTC.
    pub used_today: i64,
    /// How many of the day's drips may be used by now.
    pub allowed_by_now: i64,
    pub fresh_keys_only: bool,
    /// The puzzle of the next request; null when there is none.
    pub pow: Option<Pow>,
    pub how: String,
}

/// A puzzle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pow {
    pub bits: u32,
    pub how: String,
}
