//! What a snapshot is made by: the configuration, or what the specification says of the network that it names.

use super::Issuance;
use plugin_api::{Address, JsonSchema};
use serde::{Deserialize, Serialize};

/// Why coins do not circulate, and how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// A contract with `remaining()`: all it has. Once that is 0 the lock is open, and its coins are the foundation's.
    Locked,
    /// A contract with `releasable()`: what it has beyond that.
    Vesting,
    /// All the address has.
    Foundation,
}

/// An address whose coins do not circulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExcludedAddress {
    pub address: Address,
    /// What it is called.
    pub label: String,
    pub category: Category,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub symbol: String,
    pub chain_id: u64,
    pub issuance: Issuance,
    pub excluded: Vec<ExcludedAddress>,
    pub burn_addresses: Vec<Address>,
}

impl Plan {
    /// Names where the count of burned fees begins, so that no count goes on from one that began elsewhere.
    pub fn origin(&self) -> String {
        format!("{}:{}", self.issuance.burn_block, self.issuance.burn_wei)
    }
}
