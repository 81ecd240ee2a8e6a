//! Events of the reputation registry: feedback of clients. Anyone may give it, so no list of this plugin counts it.

use super::TABLES;
use crate::{
    Agents,
    model::{AgentId, FeedbackFacts, feedback_event},
    store::derived::feedback,
};
use plugin_api::{Address, ChainEvent, Definition, Hash256, HostError, PluginContext, Tx};
use serde::{Deserialize, Deserializer};

const REPUTATION: &str = "reputation8004";
const GIVEN: &str = "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, \
     int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, \
     string feedbackURI, bytes32 feedbackHash)";
const REVOKED: &str =
    "FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)";

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition.on_chain_event(REPUTATION, GIVEN, &TABLES, given).on_chain_event(REPUTATION, REVOKED, &TABLES, revoked)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
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

/// Decodes an integer of any size as text.
fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Small(i64),
        Large(String),
    }
    Ok(match Number::deserialize(deserializer)? {
        Number::Small(value) => value.to_string(),
        Number::Large(text) => text,
    })
}

async fn given(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Given>) -> Result<(), HostError> {
    tx.defer(feedback::insert(&event))?;
    let Given { agent_id, client_address: client, value, value_decimals, tag1, tag2, .. } = &event.args;
    let facts =
        FeedbackFacts { agent_id: *agent_id, client: *client, value, value_decimals: *value_decimals, tag1, tag2 };
    feedback_event(&facts, &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revoked {
    pub agent_id: AgentId,
    pub client_address: Address,
    pub feedback_index: i64,
}

/// Publishes nothing; the feedback no longer counts.
async fn revoked(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Revoked>) -> Result<(), HostError> {
    tx.defer(feedback::revoke(&event.args))
}
