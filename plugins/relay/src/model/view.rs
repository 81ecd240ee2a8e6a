//! What the routes take and answer.

use plugin_api::{Address, Hash256, JsonSchema, Wei};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A sponsored call on its way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallView {
    pub tx_hash: Hash256,
    /// The same.
    pub tx: Hash256,
    pub account: Address,
    pub to: Address,
    pub value: Wei,
    pub gas_estimate: String,
    pub gas_limit: String,
    pub relayer: Address,
    /// Sponsored calls that the account has left for this day of UTC.
    pub remaining_today: i64,
}

#[derive(Deserialize, JsonSchema)]
pub struct NewAccount {
    /// Who owns the account.
    pub owner: Address,
    /// Another one gives the owner another account: 0x and up to 64 hex digits, filled up with zeros on the left, or any text, which is
    /// hashed.
    pub salt: Option<String>,
}

/// An account that exists, or is on its way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    pub account: Address,
    /// The same.
    pub address: Address,
    pub owner: Address,
    pub salt: Hash256,
    pub existing: bool,
    /// Null when it exists.
    pub tx_hash: Option<Hash256>,
    /// The same.
    pub tx: Option<Hash256>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relayer: Option<Address>,
}

/// The relay, its limits and what is signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Why it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub enabled: bool,
    /// Who pays for gas; null without a key.
    pub relayer: Option<Address>,
    /// Null while it is not deployed.
    pub factory: Option<Address>,
    /// What accounts are clones of; null while it is not deployed.
    pub implementation: Option<Address>,
    pub limits: Limits,
    /// Contracts that may be called, by their names.
    pub allowed_targets: BTreeMap<&'static str, Address>,
    pub signing: Signing,
}

/// In a day of UTC, but for `maxGas`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub relays_per_account_per_day: i64,
    pub relays_per_ip_per_day: i64,
    pub relays_per_day: i64,
    pub max_gas: u64,
    /// The account without salt has a share of its own beside this one.
    pub account_creates_per_owner_per_day: i64,
    pub account_creates_per_ip_per_day: i64,
    pub account_creates_per_day: i64,
}

/// What is signed, by EIP-712.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signing {
    pub domain: Domain,
    pub primary_type: &'static str,
    pub fields: Vec<TypeField>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Domain {
    pub name: String,
    pub version: &'static str,
    pub chain_id: u64,
    /// What is to be put there: the account's address.
    pub verifying_contract: &'static str,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TypeField {
    pub name: &'static str,
    #[serde(rename = "type")]
    pub kind: &'static str,
}
