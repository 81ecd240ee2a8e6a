//! The record of `GET /api/supply`.

mod assemble;
mod reading;

pub use assemble::SnapshotError;
pub use reading::{HeldBalance, Reading};

use super::Category;
use plugin_api::{Address, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

/// Amounts in whole coins are decimal strings with all their decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub symbol: String,
    pub decimals: u8,
    pub chain_id: u64,
    /// The block that every number is of: 64 below `head`.
    pub as_of_block: u64,
    /// Unix seconds.
    pub as_of_timestamp: i64,
    /// The newest block when the snapshot was taken.
    pub head: u64,
    pub total_supply: String,
    pub circulating_supply: String,
    pub max_supply: String,
    pub wei: Totals,
    pub components: Components,
    /// Addresses whose coins do not circulate.
    pub excluded: Vec<ExcludedView>,
    pub excluded_totals: ExcludedTotals,
    pub definitions: Definitions,
    /// The sums, for people who add up.
    pub reconciliation: Vec<String>,
    /// True when newer numbers could not be had; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
    /// Unix milliseconds.
    pub computed_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub total: Wei,
    pub circulating: Wei,
    pub max: Wei,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Components {
    pub genesis: Genesis,
    pub pre_authority_issuance: EarlierIssuance,
    pub authority_issuance: BlockRewards,
    pub burned_base_fees: BurnedBaseFees,
    pub burn_addresses: BurnAddresses,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Genesis {
    pub fmx: String,
    pub wei: Wei,
    /// Where the number comes from.
    pub source: String,
}

/// What blocks were paid before those that get `authorityIssuance`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierIssuance {
    pub fmx: String,
    pub wei: Wei,
    /// Number of these blocks, without genesis.
    pub blocks: u64,
    pub base_reward_fmx: String,
    pub uncle_reward_fmx: String,
    pub nephew_reward_fmx: String,
    pub uncles_included: u64,
    /// The last of these blocks.
    pub measured_at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockRewards {
    pub fmx: String,
    pub wei: Wei,
    pub blocks: u64,
    /// Of the block `asOfBlock`.
    pub reward_per_block_fmx: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BurnedBaseFees {
    pub fmx: String,
    pub wei: Wei,
    /// The last block that was counted.
    pub through_block: u64,
    pub checkpoint: Checkpoint,
}

/// Where the count began, and what was burned up to and with that block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    pub block: u64,
    pub fmx: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BurnAddresses {
    pub fmx: String,
    pub wei: Wei,
    pub addresses: Vec<BurnAddress>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BurnAddress {
    pub address: Address,
    pub fmx: String,
    pub wei: Wei,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExcludedView {
    pub address: Address,
    pub label: String,
    pub category: Category,
    /// All that the address has, in whole coins.
    pub balance: String,
    /// What of it does not circulate.
    pub excluded: String,
    pub excluded_wei: Wei,
    /// Why it does not circulate.
    pub note: String,
}

/// In whole coins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedTotals {
    pub locked: String,
    pub vesting: String,
    pub foundation: String,
    pub all: String,
}

/// What the numbers mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Definitions {
    pub total: String,
    pub circulating: String,
    pub max: String,
    pub block: String,
}
