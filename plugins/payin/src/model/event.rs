//! Events of the activity log. Clients depend on these members: wire names, public data only.

use plugin_api::{Address, Event, Hash256, Wei};
use serde::Serialize;

/// Coins were paid for a deposit, by a transaction that is final.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("payin.paid", subject = "payin", id = quote_id, actor = to, unique_key(quote_id))]
pub struct PayinPaid {
    pub quote_id: String,
    pub chain: String,
    pub asset: String,
    /// What was deposited, in whole tokens.
    pub amount: String,
    pub usd: String,
    /// The value in USD with 6 decimals.
    pub usdc: String,
    pub fmx_out: Wei,
    pub to: Address,
    pub tx: Option<Hash256>,
}
