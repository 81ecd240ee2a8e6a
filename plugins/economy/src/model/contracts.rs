//! The contracts and their events, with the arguments that handlers need.
//!
//! Where the activity log repeats the arguments of an event, one struct is both: its members are written by the names of the log.

use plugin_api::{
    Address, AgentId, Event, JobId, Wei,
    contracts::{ContractEvent, chain_int},
};
use serde::{Deserialize, Deserializer, Serialize};

/// Keys of the contracts in the gateway's configuration.
pub const STREAM_PAY: &str = "streamPay";
pub const ARBITER_POOL: &str = "arbiterPool";
pub const TOKEN_FACTORY: &str = "tokenFactory";
/// The implementation that accounts are clones of; its own events are ignored.
pub const ACCOUNT_IMPL: &str = "accountImpl";

/// Decodes 64-bit unsigned seconds. Anyone can make a contract emit a time beyond 2^63 - 1; it is stored as that.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    u64::deserialize(deserializer).map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX))
}

#[derive(Serialize, Deserialize, ContractEvent, Event)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    STREAM_PAY,
    "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, \
     uint256 deposit, uint64 start, uint64 stop)"
)]
#[event("stream.opened", subject = "stream", id = stream_id, actor = payer)]
pub struct StreamOpened {
    #[serde(rename(deserialize = "id"), deserialize_with = "chain_int")]
    pub stream_id: i64,
    pub payer: Address,
    pub payee: Address,
    pub rate_per_sec: Wei,
    pub deposit: Wei,
    #[serde(deserialize_with = "seconds")]
    pub start: i64,
    #[serde(deserialize_with = "seconds")]
    pub stop: i64,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(STREAM_PAY, "StreamToppedUp(uint256 indexed id, uint256 amount, uint256 deposit, uint64 stop)")]
pub struct StreamToppedUp {
    #[serde(deserialize_with = "chain_int")]
    pub id: i64,
    /// The total deposit, not the added part.
    pub deposit: Wei,
    #[serde(deserialize_with = "seconds")]
    pub stop: i64,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(STREAM_PAY, "StreamClaimed(uint256 indexed id, uint256 payeeAmount, uint256 fee)")]
pub struct StreamClaimed {
    #[serde(deserialize_with = "chain_int")]
    pub id: i64,
    pub payee_amount: Wei,
    pub fee: Wei,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    STREAM_PAY,
    "StreamCancelled(uint256 indexed id, address indexed by, uint256 payeeAmount, uint256 fee, uint256 refund)"
)]
pub struct StreamCancelled {
    #[serde(deserialize_with = "chain_int")]
    pub id: i64,
    pub by: Address,
    pub payee_amount: Wei,
    pub fee: Wei,
    pub refund: Wei,
}

#[derive(Serialize, Deserialize, ContractEvent, Event)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    STREAM_PAY,
    "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, \
     string metadataURI)"
)]
#[event("plan.created", subject = "plan", id = plan_id, actor = payee)]
pub struct PlanCreated {
    #[serde(deserialize_with = "chain_int")]
    pub plan_id: i64,
    pub payee: Address,
    pub price_per_period: Wei,
    #[serde(deserialize_with = "seconds")]
    pub period: i64,
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(STREAM_PAY, "PlanActiveSet(uint256 indexed planId, bool active)")]
pub struct PlanActiveSet {
    #[serde(deserialize_with = "chain_int")]
    pub plan_id: i64,
    pub active: bool,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    STREAM_PAY,
    "Subscribed(uint256 indexed subId, uint256 indexed planId, address indexed payer, uint32 periods, \
     uint64 paidThrough)"
)]
pub struct Subscribed {
    #[serde(deserialize_with = "chain_int")]
    pub sub_id: i64,
    #[serde(deserialize_with = "chain_int")]
    pub plan_id: i64,
    pub payer: Address,
    pub periods: u32,
    #[serde(deserialize_with = "seconds")]
    pub paid_through: i64,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(STREAM_PAY, "SubRenewed(uint256 indexed subId, uint32 periods, uint64 paidThrough)")]
pub struct SubRenewed {
    #[serde(deserialize_with = "chain_int")]
    pub sub_id: i64,
    #[serde(deserialize_with = "seconds")]
    pub paid_through: i64,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(STREAM_PAY, "SubCancelled(uint256 indexed subId, uint256 refund)")]
pub struct SubCancelled {
    #[serde(deserialize_with = "chain_int")]
    pub sub_id: i64,
}

#[derive(Serialize, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    ARBITER_POOL,
    "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)"
)]
pub struct CaseOpened {
    #[serde(deserialize_with = "chain_int")]
    pub case_id: i64,
    pub job_id: JobId,
    pub opener: Address,
    #[serde(rename = "evidenceURI")]
    pub evidence_uri: String,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ARBITER_POOL, "EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri)")]
pub struct EvidenceSubmitted {
    #[serde(deserialize_with = "chain_int")]
    pub case_id: i64,
    pub by: Address,
    pub uri: String,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ARBITER_POOL, "Voted(uint256 indexed caseId, address indexed arbiter, uint16 clientBps)")]
pub struct Voted {
    #[serde(deserialize_with = "chain_int")]
    pub case_id: i64,
}

#[derive(Serialize, Deserialize, ContractEvent, Event)]
#[serde(rename_all = "camelCase")]
#[contract_event(ARBITER_POOL, "CaseClosed(uint256 indexed caseId, uint256 indexed jobId, uint16 clientBps)")]
#[event("case.closed", subject = "case", id = case_id)]
pub struct CaseClosed {
    #[serde(deserialize_with = "chain_int")]
    pub case_id: i64,
    pub job_id: JobId,
    pub client_bps: u16,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(TOKEN_FACTORY, "Launched(uint256 indexed agentId, address indexed token, string symbol)")]
pub struct Launched {
    pub agent_id: AgentId,
    pub token: Address,
    pub symbol: String,
}

/// In this event the fee comes before the amount.
#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    TOKEN_FACTORY,
    "Bought(address indexed token, address indexed buyer, uint256 fmxIn, uint256 fee, uint256 amountOut)"
)]
pub struct Bought {
    pub token: Address,
    pub fmx_in: Wei,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    TOKEN_FACTORY,
    "Sold(address indexed token, address indexed seller, uint256 amountIn, uint256 fmxOut)"
)]
pub struct Sold {
    pub token: Address,
    pub fmx_out: Wei,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(TOKEN_FACTORY, "Distributed(address indexed token, address indexed from, uint256 amount)")]
pub struct Distributed {
    pub token: Address,
    pub amount: Wei,
}
