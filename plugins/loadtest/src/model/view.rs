//! Responses.

use super::Marker;
use plugin_api::{Address, JsonSchema};
use serde::Serialize;

/// Where the parts of the disclosure are.
pub const MANIFEST: &str = "/api/loadtest/manifest";
pub const ADDRESS: &str = "/api/loadtest/address/{addr}";
pub const STATS: &str = "/api/loadtest/stats";

/// What an address is in the load test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It funds the wallets.
    Float,
    Wallet,
    /// Where the coins go in the end: the operator's, and no part of the test.
    Sink,
}

#[derive(Serialize, JsonSchema)]
pub struct AddressView {
    pub address: Address,
    /// Whether what it sends is load and no use.
    pub loadtest: bool,
    /// Its place in the branch; 0 is the float.
    pub index: Option<i64>,
    pub role: Option<Role>,
    /// Whether there is a load test whose wallets are known.
    pub available: bool,
    pub manifest: String,
}

/// How many wallets are known.
#[derive(Serialize, JsonSchema)]
pub struct Membership {
    /// Wallets in the table, the float not counted.
    pub loaded: i64,
    /// Why the table is not complete, or not believed.
    pub problem: Option<String>,
}

/// Transactions in final blocks that no wallet of the load test sent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Organic {
    /// Whether all final blocks are counted, but for the newest.
    pub ready: bool,
    pub through_block: i64,
    pub transactions: i64,
    /// In the last 24 hours, to the hour.
    pub last24h: i64,
    /// What the load test sent in the same blocks.
    pub loadtest: i64,
    /// Unix seconds of the last count.
    pub at: i64,
    /// Blocks on top of a block that is counted.
    pub confirmations: i64,
}

/// When a transaction was mined.
#[derive(Serialize, JsonSchema)]
pub struct Seen {
    /// Unix seconds.
    pub at: i64,
    pub block: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    pub name: Option<String>,
    pub agent_id: Option<i64>,
    pub sink: Option<Address>,
    pub agent_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Derivation {
    pub standard: &'static str,
    pub path: &'static str,
    pub xpub: Option<String>,
    /// Index of the float.
    pub float: i64,
    /// Wallets that belong to the load test: indexes 1 to this one.
    pub wallets: i64,
    /// The highest index that was seen on the chain.
    pub activated_up_to: i64,
}

#[derive(Serialize, JsonSchema)]
pub struct Addresses {
    pub float: Option<Address>,
    pub sink: Option<Address>,
    pub derivation: Derivation,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    pub rate_tx_per_s: u32,
    pub pauses_when: Vec<String>,
}

/// The public disclosure.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disclosure {
    pub name: String,
    pub purpose: String,
    pub operator: Operator,
    pub chain_id: u64,
    /// `not started`, or what the runner does.
    pub status: String,
    /// The day of the first transaction that was seen, of UTC.
    pub start_date: Option<String>,
    pub marker: Marker,
    pub addresses: Addresses,
    /// How to find out what belongs to the load test, step by step.
    pub verify: Vec<String>,
    /// Where its counters are.
    pub counters: String,
    /// Numbers of this service that leave it out.
    pub excluded_from: Vec<&'static str>,
    /// How its transactions are counted.
    pub counting: &'static str,
    /// The addresses that are labelled.
    pub labelled: Vec<String>,
    pub limits: Limits,
    pub manifest: String,
    /// Unix seconds of the last count.
    pub updated_at: Option<i64>,
}
