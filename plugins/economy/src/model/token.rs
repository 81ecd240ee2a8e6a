//! Tokens of agents, sold on a bonding curve.

use plugin_api::{Address, Hash256, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

/// An agent's token; also its row in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    pub token: Address,
    pub agent_id: i64,
    pub symbol: String,
    /// Unix seconds.
    pub launched_at: i64,
    pub buys: i64,
    pub sells: i64,
    /// What buyers paid, the fee included.
    pub fmx_in: Wei,
    /// What sellers got.
    pub fmx_out: Wei,
    /// What was shared out among holders.
    pub distributed: Wei,
    pub tx_launched: Option<Hash256>,
    pub agent_name: Option<String>,
    /// Of the agent.
    pub owner: Option<Address>,
}
