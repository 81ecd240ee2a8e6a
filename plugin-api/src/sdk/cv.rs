//! Claims about an agent for its credential: what the plugin that owns the facts states, and where the evidence is.
//!
//! The plugin `aicv` collects them, checks each one and signs what is left. So a claim says little about its evidence: it names a
//! log, and `aicv` reads that log itself.

use super::{AgentId, Hash256};
use crate::sdk::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Whose credential it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvClaimsInput {
    pub agent_id: AgentId,
    /// The agent's owner today.
    pub owner: Address,
    /// How many claims of one kind to state at most, where the specification sets no lower number.
    pub claims_max: u32,
}

/// What a plugin knows of the agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CvRecord {
    /// Kinds of claims that the plugin states whenever there is something to state.
    pub covers: Vec<String>,
    pub claims: Vec<CvClaim>,
    /// How many more facts there are than claims, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// Members of the credential's summary.
    pub summary: Map<String, Value>,
    /// Types of activity that this plugin publishes and that are contributions to the commons: `aicv` counts the events.
    pub activity_types: Vec<String>,
}

impl CvRecord {
    /// Of a plugin that states nothing itself: its events count as contributions to the commons.
    pub fn of_activity(types: &[&str]) -> Self {
        Self { activity_types: types.iter().map(ToString::to_string).collect(), ..Self::default() }
    }
}

/// One claim.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvClaim {
    /// A kind of the vocabulary, for example `EscrowJob`.
    pub kind: String,
    /// Behind `fmx:<agentId>:` in the claim's id, for example `job:7`.
    pub id: String,
    /// Unix seconds.
    pub stated_at: Option<i64>,
    /// The members of its kind. One that the log tells may be left out: `aicv` fills it in. One that is stated must equal the log.
    pub fields: Map<String, Value>,
    /// Events of the chain that prove it, the deciding one first. Without any it is an assertion of the gateway, or of the agent.
    pub logs: Vec<CvLog>,
    /// Of an assertion: the route or URL that it comes from.
    pub source: Option<String>,
    /// Of an assertion: what it rests on.
    pub note: Option<String>,
}

/// An event of a configured contract.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvLog {
    /// The contract's key in the configuration, for example `escrow`.
    pub contract: String,
    /// The event's name.
    pub event: String,
    /// Without it, the event is looked for among those that name the agent.
    pub tx: Option<Hash256>,
}

impl CvLog {
    pub fn new(contract: &str, event: &str, tx: impl Into<Option<Hash256>>) -> Self {
        Self { contract: contract.to_owned(), event: event.to_owned(), tx: tx.into() }
    }
}
