//! Proofs: that a record is in the log of an agent's owner, and in a batch that was anchored.

use super::{BatchStatus, BatchView, RecordHeader, RecordView, VerifyTexts};
use plugin_api::{Address, AgentId, Hash256, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The log of the agent's owner.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    pub address: Address,
    /// Of the newest record.
    pub seq: i64,
    pub head_hash: Hash256,
    /// Unix seconds, as all times here.
    pub last_write_at: Option<i64>,
    pub unanchored: i64,
    /// 0 before the first anchor.
    pub anchored_through_seq: i64,
    pub last_root: Option<Hash256>,
    pub last_anchor_tx: Option<Hash256>,
    pub last_anchor_seq: Option<i64>,
    pub last_anchored_at: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ProofView {
    Batched(Box<BatchedProof>),
    Unbatched(Box<UnbatchedProof>),
}

/// A record that is in no batch yet.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnbatchedProof {
    pub agent_id: AgentId,
    pub address: Address,
    pub seq: i64,
    /// Always false.
    pub anchored: bool,
    pub reason: &'static str,
    pub record: RecordHeader,
    pub record_hash: Hash256,
    pub leaf: Hash256,
    pub log: LogView,
    pub verify: VerifyTexts,
}

/// A record with its place in a batch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchedProof {
    /// Always 1.
    pub v: u8,
    pub chain_id: u64,
    pub agent_id: AgentId,
    pub address: Address,
    pub anchored: bool,
    pub status: BatchStatus,
    pub batch: BatchView,
    #[serde(flatten)]
    pub record: RecordView,
    /// Leaves of the batch.
    pub count: i64,
    /// Whether the gateway verified the proof with the contract's algorithm.
    pub self_check: bool,
    pub onchain: OnchainProof,
    pub continuity: Continuity,
    pub reveal: &'static str,
    pub verify: VerifyTexts,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnchainProof {
    /// Null while it is not deployed.
    pub contract: Option<Address>,
    pub call: &'static str,
    /// root, recordBytes, proof, index, count.
    pub args: Vec<Value>,
    /// The newest anchor of the agent, as indexed.
    pub head: Option<ChainHead>,
    pub tx: Option<Hash256>,
    pub block: Option<i64>,
    pub anchor_seq: Option<i64>,
}

/// As the contract's `head(agentId)`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChainHead {
    pub root: Hash256,
    pub seq: i64,
    pub total_records: i64,
    pub anchored_at: i64,
}

/// How to walk the log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Continuity {
    pub prev: Hash256,
    pub note: &'static str,
    pub log_head: LogView,
}
