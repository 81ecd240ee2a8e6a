//! Events of the reputation registry: feedback of clients. Anyone may give it, so no list of this plugin counts it.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use super::tables::TABLES;
use crate::{Agents, model, store::derived};
use plugin_api::{
    Address, AgentId, Definition, Event, Hash256, HostError, PluginContext, Tx,
    contracts::{ChainEvent, ContractEvent},
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const REPUTATION: &str = "reputation8004";

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition.on_contract_event(&TABLES, given).on_contract_event(&TABLES, revoked)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    REPUTATION,
    "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, \
     uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, \
     bytes32 feedbackHash)"
)]
pub struct NewFeedback {
    pub agent_id: AgentId,
    pub client_address: Address,
    pub feedback_index: i64,
    /// Decimal, possibly with a sign.
    #[serde(deserialize_with = "decimal")]
    pub value: String,
    pub value_decimals: u8,
    pub tag1: String,
    pub tag2: String,
    pub endpoint: String,
    #[serde(rename = "feedbackURI")]
    pub feedback_uri: String,
    pub feedback_hash: Hash256,
}

/// Decodes an integer of any size as text: a small one is a number, a large one is a text already.
fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        number => number.to_string(),
    })
}

async fn given(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<NewFeedback>) -> Result<(), HostError> {
    tx.defer(derived::feedback::insert(&event))?;
    let NewFeedback { agent_id, client_address, value, value_decimals, tag1, tag2, .. } = &event.args;
    derived::records::add_feedback(&tx, *agent_id, *client_address)?;
    let given = model::FeedbackGiven {
        agent_id: *agent_id,
        client: *client_address,
        value,
        value_decimals: *value_decimals,
        tag1,
        tag2,
        source: model::ChainSource::of(&event),
    };
    given.publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    REPUTATION,
    "FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)"
)]
pub struct FeedbackRevoked {
    pub agent_id: AgentId,
    pub client_address: Address,
    pub feedback_index: i64,
}

/// Publishes nothing; the feedback no longer counts.
async fn revoked(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<FeedbackRevoked>) -> Result<(), HostError> {
    let FeedbackRevoked { agent_id, client_address, feedback_index } = event.args;
    derived::records::subtract_feedback(&tx, agent_id, client_address, feedback_index)?;
    tx.defer(derived::feedback::revoke(&event.args))
}
