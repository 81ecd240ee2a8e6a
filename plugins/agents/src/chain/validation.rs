//! Events of the validation registry: requests to validators, and their responses.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use super::tables::TABLES;
use crate::{Agents, model, store::derived};
use plugin_api::{
    Address, AgentId, Definition, Event, Hash256, HostError, PluginContext, Tx,
    contracts::{ChainEvent, ContractEvent},
};
use serde::Deserialize;

const VALIDATION: &str = "validation8004";

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition.on_contract_event(&TABLES, requested).on_contract_event(&TABLES, responded)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    VALIDATION,
    "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, \
     bytes32 indexed requestHash)"
)]
pub struct ValidationRequest {
    pub validator_address: Address,
    pub agent_id: AgentId,
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    pub request_hash: Hash256,
}

async fn requested(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<ValidationRequest>) -> Result<(), HostError> {
    tx.defer(derived::validations::request(&event))?;
    let ValidationRequest { validator_address, agent_id, request_uri, request_hash } = &event.args;
    derived::records::add_validation(&tx, *agent_id, *validator_address)?;
    let requested = model::ValidationRequested {
        agent_id: *agent_id,
        validator: *validator_address,
        request_hash: *request_hash,
        request_uri,
        source: model::ChainSource::of(&event),
    };
    requested.publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    VALIDATION,
    "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, \
     uint8 response, string responseURI, bytes32 responseHash, string tag)"
)]
pub struct ValidationResponse {
    pub validator_address: Address,
    pub agent_id: AgentId,
    pub request_hash: Hash256,
    pub response: u8,
    #[serde(rename = "responseURI")]
    pub response_uri: String,
    pub tag: String,
}

/// A validator may respond again; the latest response counts.
async fn responded(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<ValidationResponse>) -> Result<(), HostError> {
    let agent_name = derived::validations::respond(&tx, &event).await?;
    let ValidationResponse { validator_address, agent_id, request_hash, response, response_uri, tag } = &event.args;
    let done = model::ValidationDone {
        agent_id: *agent_id,
        agent_name,
        request_hash: *request_hash,
        response: *response,
        response_uri,
        tag,
        source: model::ChainSource::of(&event),
    };
    done.by(*validator_address).publish(&tx)
}
