//! The events of contracts that rows are derived from, with the arguments that handlers need.

use plugin_api::{
    AgentId, Wei,
    contracts::{ContractEvent, chain_int},
};
use serde::Deserialize;

/// Key of the contract of endorsements in the gateway's configuration.
const ENDORSEMENTS: &str = "endorsements";

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    ENDORSEMENTS,
    "Endorsed(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, bytes32 capabilityId, string capability, \
     uint8 basis, uint32 weight, uint64 evidenceJobId, uint256 evidenceAmountWei, string uri)"
)]
pub struct Endorsed {
    #[serde(deserialize_with = "chain_int")]
    pub id: i64,
    pub from_agent_id: AgentId,
    pub to_agent_id: AgentId,
    /// Untrusted, as is `uri`.
    pub capability: String,
    pub basis: u8,
    pub weight: u32,
    #[serde(deserialize_with = "chain_int")]
    pub evidence_job_id: i64,
    pub evidence_amount_wei: Wei,
    pub uri: String,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    ENDORSEMENTS,
    "EndorsementRevoked(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, uint32 weight)"
)]
pub struct EndorsementRevoked {
    #[serde(deserialize_with = "chain_int")]
    pub id: i64,
    pub from_agent_id: AgentId,
    pub to_agent_id: AgentId,
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    "identity8004",
    "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)"
)]
pub struct MetadataSet {
    pub agent_id: AgentId,
    pub metadata_key: String,
    /// Bytes as hex digits.
    pub metadata_value: String,
}
