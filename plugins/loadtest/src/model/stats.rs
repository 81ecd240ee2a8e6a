//! The counters: `GET /api/loadtest/stats`.

use super::{Marker, Membership, Organic, Seen};
use plugin_api::{Address, Hash256, JsonSchema, Wei};
use serde::Serialize;
use std::collections::BTreeMap;

/// The schema of the document.
pub const SCHEMA: &str = "loadtest/1";

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Stats {
    /// `deployed` is false.
    NotStarted(NotStarted),
    Started(Box<Started>),
}

#[derive(Serialize, JsonSchema)]
pub struct NotStarted {
    pub deployed: bool,
    pub available: bool,
    pub detail: &'static str,
    pub manifest: String,
    pub address: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    pub deployed: bool,
    pub available: bool,
    pub schema: &'static str,
    /// Unix seconds.
    pub updated_at: i64,
    #[serde(flatten)]
    pub state: RunnerState,
    pub purpose: String,
    pub chain_id: u64,
    pub marker: Marker,
    pub sink: Option<Address>,
    pub float: Float,
    pub derivation: StatsDerivation,
    pub wallets: Wallets,
    pub counters: Counters,
    /// Null before a final block is counted.
    pub organic: Option<Organic>,
    pub explorer: Explorer,
    pub rates: Rates,
    pub guards: Option<Guards>,
    /// The newest twenty, newest first.
    pub sink_transfers: Vec<SinkTransfer>,
    pub membership: Membership,
    pub manifest: String,
    pub address: String,
}

/// What the runner does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerState {
    /// `off`, `running`, `paused`, `draining` or `drained`.
    pub mode: &'static str,
    /// Whether this gateway may run it.
    pub enabled: bool,
    pub paused: bool,
    pub pause_reason: Option<String>,
    pub paused_since: Option<i64>,
    pub last_pause: Option<LastPause>,
    pub started_at: Option<i64>,
    pub created_at: Option<i64>,
    pub drained: bool,
    /// When all that was left was back in the float, or in the sink.
    pub final_sweep: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct LastPause {
    pub reason: String,
    pub at: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Float {
    pub address: Option<Address>,
    /// At the last look.
    pub balance_wei: Option<Wei>,
    /// Coins that wallets have or are about to get.
    pub in_flight_wei: Wei,
    /// What stays in the float for what is under way.
    pub reserve_wei: Wei,
    /// What the float keeps: with less nothing new begins.
    pub min_wei: Wei,
    pub max_in_flight_wei: Wei,
}

#[derive(Serialize, JsonSchema)]
pub struct StatsDerivation {
    pub path: &'static str,
    pub xpub: String,
    /// Index of the float.
    pub float: i64,
    pub wallets: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallets {
    pub planned: i64,
    /// Seen on the chain.
    pub activated: i64,
    pub highest_index: i64,
    pub next_index: i64,
    /// How often all of them were used.
    pub pass: i64,
    pub active_waves: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// In final blocks, as all of these but `failed` and `pending`.
    pub transactions: i64,
    pub by_kind: BTreeMap<&'static str, i64>,
    /// Transactions that servers refuse at the moment.
    pub failed: i64,
    pub volume_wei: Wei,
    /// Fees of the runner's transactions; null where another program runs the test.
    pub gas_wei: Option<Wei>,
    /// Wallets that belong to the load test, the float too.
    pub addresses: i64,
    pub addresses_on_chain: i64,
    /// Signed and in no final block.
    pub pending: i64,
}

/// No explorer is read: null.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explorer {
    pub index_snapshot: Option<i64>,
    pub index_read: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// By day of UTC.
    pub daily: BTreeMap<String, i64>,
    pub last24h: i64,
    pub first_tx: Option<Seen>,
    pub last_tx: Option<Seen>,
    /// Transactions in a second, at most.
    pub rate: u32,
    pub gas: Gas,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gas {
    /// Of the newest wave.
    pub per_transfer: Option<i64>,
    pub rule: &'static str,
    pub tip_wei: Option<Wei>,
}

/// What decides whether the runner goes on.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guards {
    pub ok: bool,
    pub reasons: Vec<String>,
    pub head: i64,
    pub head_age_s: i64,
    /// Not read: null.
    pub signers: Option<i64>,
    /// Null where servers do not tell.
    pub txpool_pending: Option<i64>,
    /// Not read: null.
    pub explorer_lag: Option<i64>,
    /// Unix seconds of the last look.
    pub at: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SinkTransfer {
    pub hash: Hash256,
    pub value_wei: Wei,
    /// Unix seconds.
    pub at: i64,
    pub block: i64,
}
