//! The event of the contract, with the arguments that its handler needs.

use super::CONTRACT;
use plugin_api::{
    Address, AgentId, Hash256,
    contracts::{ContractEvent, chain_int},
};
use serde::Deserialize;

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, uint32 count, \
     uint64 totalRecords, address anchoredBy, string uri)"
)]
pub struct Anchored {
    pub agent_id: AgentId,
    /// From 1 for each agent.
    #[serde(deserialize_with = "chain_int")]
    pub seq: i64,
    pub root: Hash256,
    pub prev_root: Hash256,
    #[serde(deserialize_with = "chain_int")]
    pub count: i64,
    #[serde(deserialize_with = "chain_int")]
    pub total_records: i64,
    /// Who sent the transaction.
    pub anchored_by: Address,
    /// Untrusted.
    pub uri: String,
}
