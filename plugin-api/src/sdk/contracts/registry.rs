//! `AgentRegistry`: agents and who owns them.

use crate::{
    Address, Sql, Wei,
    contracts::{ChainEvent, ContractEvent},
    sql,
};
use serde::Deserialize;

pub use super::agent_name::AgentName;

/// Key of the contract in the gateway's configuration.
pub const CONTRACT: &str = "registry";

crate::record_id!(
    /// An agent, by its id in the registry.
    ///
    /// ```
    /// use plugin_api::AgentId;
    ///
    /// assert_eq!(serde_json::to_string(&AgentId(7)).ok().as_deref(), Some("7"));
    /// ```
    AgentId,
    "agent"
);

/// An agent registered. It is active; events that follow in the same transaction repeat status and bond.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, \
     uint256 pricePerJob, uint256 bond)"
)]
pub struct AgentRegistered {
    pub id: AgentId,
    pub owner: Address,
    /// Untrusted, of any length, as are `endpoint` and `metadata_uri`.
    pub name: String,
    pub endpoint: String,
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
    pub price_per_job: Wei,
    pub bond: Wei,
}

/// The owner of an agent changed what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "AgentUpdated(uint256 indexed id, string endpoint, string metadataURI, uint256 pricePerJob)"
)]
pub struct AgentUpdated {
    pub id: AgentId,
    /// Untrusted, of any length, as is `metadata_uri`.
    pub endpoint: String,
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
    pub price_per_job: Wei,
}

/// An agent has another owner. The registry's event has three indexed arguments, that of other contracts two.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ContractEvent)]
#[contract_event(CONTRACT, "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)")]
pub struct OwnershipTransferred {
    pub id: AgentId,
    pub from: Address,
    pub to: Address,
}

pub(crate) fn insert_agent(table: &str, event: &ChainEvent<AgentRegistered>) -> Sql {
    let AgentRegistered { id, owner, name, .. } = &event.args;
    let insert = format!("INSERT INTO {table} (id, owner, name) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING");
    sql(insert).bind((id, owner, name))
}

pub(crate) fn set_owner(table: &str, event: &ChainEvent<OwnershipTransferred>) -> Sql {
    sql(format!("UPDATE {table} SET owner = $2 WHERE id = $1")).bind((event.args.id, event.args.to))
}
