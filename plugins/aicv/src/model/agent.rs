//! The agent that a credential is about.

use super::log::Subject;
use plugin_api::{Address, AgentId, Wei};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the index has of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub agent_id: AgentId,
    pub owner: Address,
    pub name: String,
    pub slug: String,
    pub registered_at: i64,
    pub jobs_completed: i64,
    pub jobs_failed: i64,
    pub rating_count: i64,
    pub rating_sum: i64,
    pub endpoint: String,
    pub status: String,
    pub price_per_job: Wei,
    pub bond: Wei,
}

impl Agent {
    pub fn subject(&self) -> Subject {
        Subject { agent_id: self.agent_id, owner: self.owner }
    }
}

/// Another agent of the same slug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct Namesake {
    // As rows have it, and as an issue that was stored.
    #[serde(alias = "agentId")]
    pub agent_id: AgentId,
    pub owner: Address,
    pub status: String,
}

/// What the registry answered about an agent: its state, and its counters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Answer")]
pub struct RegistryState {
    pub owner: Address,
    pub endpoint: String,
    pub metadata_uri: String,
    pub price_per_job: Wei,
    pub bond: Wei,
    pub status: String,
    pub jobs_completed: i64,
    pub jobs_failed: i64,
    pub rating_count: i64,
    pub rating_sum: i64,
}

type Answer = (Address, Value, String, String, Wei, Wei, Value, Value, Number, Number, Number, Number, Number);

/// A number, or its digits.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Number(#[serde(deserialize_with = "plugin_api::contracts::chain_int")] i64);

impl From<Answer> for RegistryState {
    fn from(answer: Answer) -> Self {
        let (owner, _name, endpoint, metadata_uri, price_per_job, bond, _, _, status, completed, failed, ratings, sum) =
            answer;
        let status = match status.0 {
            1 => "Active",
            2 => "Paused",
            3 => "Retired",
            _ => "None",
        };
        Self {
            owner,
            endpoint,
            metadata_uri,
            price_per_job,
            bond,
            status: status.to_owned(),
            jobs_completed: completed.0,
            jobs_failed: failed.0,
            rating_count: ratings.0,
            rating_sum: sum.0,
        }
    }
}

/// The registry's function, with its struct as results.
pub const GET_AGENT: &str = "getAgent(uint256) returns ((address,string,string,string,uint256,uint256,uint64,uint64,uint8,\
                             uint32,uint32,uint32,uint32))";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_registrys_answer_is_read_in_its_order() {
        let owner = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        let answer = json!([owner, "n", "https://e", "ipfs://m", "5", "100", 1, 0, 2, 3, 4, 5, 6]);
        let state: RegistryState = serde_json::from_value(answer).unwrap();
        assert_eq!(
            (state.endpoint.as_str(), state.metadata_uri.as_str(), state.status.as_str()),
            ("https://e", "ipfs://m", "Paused")
        );
        assert_eq!((state.price_per_job, state.bond), (Wei::from(5), Wei::from(100)));
        assert_eq!((state.jobs_completed, state.jobs_failed, state.rating_count, state.rating_sum), (3, 4, 5, 6));
    }
}
