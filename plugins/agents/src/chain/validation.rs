//! Events of the validation registry: requests to validators, and their responses.

use super::TABLES;
use crate::{
    Agents,
    model::{AgentId, ValidationFacts, validation_event},
    store::derived::validations,
};
use plugin_api::{Address, ChainEvent, Definition, Hash256, HostError, PluginContext, Tx};
use serde::Deserialize;

const VALIDATION: &str = "validation8004";
const REQUEST: &str = "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, \
     bytes32 indexed requestHash)";
const RESPONSE: &str = "ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, \
     bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)";

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition
        .on_chain_event(VALIDATION, REQUEST, &TABLES, requested)
        .on_chain_event(VALIDATION, RESPONSE, &TABLES, responded)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requested {
    pub validator_address: Address,
    pub agent_id: AgentId,
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    pub request_hash: Hash256,
}

async fn requested(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Requested>) -> Result<(), HostError> {
    tx.defer(validations::request(&event))?;
    let Requested { validator_address: validator, agent_id, request_uri, request_hash } = &event.args;
    let facts = ValidationFacts::Requested {
        agent_id: *agent_id,
        validator: *validator,
        request_hash: *request_hash,
        request_uri,
    };
    validation_event(&facts, *validator, &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Responded {
    pub validator_address: Address,
    pub agent_id: AgentId,
    pub request_hash: Hash256,
    pub response: u8,
    #[serde(rename = "responseURI")]
    pub response_uri: String,
    pub tag: String,
}

/// A validator may respond again; the latest response counts.
async fn responded(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Responded>) -> Result<(), HostError> {
    let agent_name = validations::respond(&tx, &event).await?;
    let Responded { validator_address, agent_id, request_hash, response, response_uri, tag } = &event.args;
    let facts = ValidationFacts::Done {
        agent_id: *agent_id,
        agent_name,
        request_hash: *request_hash,
        response: *response,
        response_uri,
        tag,
    };
    validation_event(&facts, *validator_address, &event)?.publish(&tx)
}
