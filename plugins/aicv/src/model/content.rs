//! What a credential says, apart from when it was issued.
//!
//! The rule: a document is a function of its content, its issue and the limit, so that every gateway on the database makes the same
//! bytes of the stored row.

use super::{
    agent::{Agent, Namesake},
    tree,
    vocabulary::RELIABILITY,
};
use plugin_api::{Address, AgentId, Hash256, HostError, Wei};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What is left out of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    #[serde(rename = "type")]
    pub kind: String,
    pub count: u64,
    /// `limit`, `cap`, `size`, `unproven`, `indexing`, `unavailable`.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Content {
    pub agent: Agent,
    /// Of the claim about the state.
    pub namesakes: Vec<Namesake>,
    pub namesake_count: u64,
    /// With their leaves, in the order of the record.
    pub claims: Vec<Value>,
    pub omitted: Vec<Omitted>,
    pub summary: Map<String, Value>,
    /// Kinds that some plugin states.
    pub covers: Vec<String>,
    /// Types of activity whose events are counted as contributions.
    pub contribution_types: Vec<String>,
    pub excludes: Vec<Exclusion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    pub what: String,
    pub why: String,
}

/// A plugin's claims are missing for now.
pub const INDEXING: &str = "indexing";
pub const UNAVAILABLE: &str = "unavailable";

impl Content {
    /// Whether no plugin's claims are missing for now.
    pub fn is_whole(&self) -> bool {
        !self.omitted.iter().any(|omitted| [INDEXING, UNAVAILABLE].contains(&omitted.reason.as_str()))
    }

    /// Of an agent of which nothing is known.
    pub fn empty() -> Self {
        let agent = Agent {
            agent_id: AgentId(0),
            owner: Address::ZERO,
            name: String::new(),
            slug: String::new(),
            registered_at: 0,
            jobs_completed: 0,
            jobs_failed: 0,
            rating_count: 0,
            rating_sum: 0,
            endpoint: String::new(),
            status: String::new(),
            price_per_job: Wei::ZERO,
            bond: Wei::ZERO,
        };
        Self {
            agent,
            namesakes: Vec::new(),
            namesake_count: 0,
            claims: Vec::new(),
            omitted: Vec::new(),
            summary: Map::new(),
            covers: Vec::new(),
            contribution_types: Vec::new(),
            excludes: Vec::new(),
        }
    }

    /// The same as long as no claim and no state changes. What probes count changes with every probe and is left out: it is brought up
    /// to date with the next issue.
    pub fn fingerprint(&self, publisher: &Value) -> Result<Hash256, HostError> {
        let is_steady = |claim: &&Value| claim["type"] != RELIABILITY;
        let claims: Vec<&Value> = self.claims.iter().filter(is_steady).collect();
        let mut summary = self.summary.clone();
        summary.remove("uptime");
        tree::hash(&json!({
            "agent": self.agent, "namesakes": self.namesakes, "namesakeCount": self.namesake_count, "claims": claims,
            "omitted": self.omitted, "summary": summary, "covers": self.covers, "contributionTypes": self.contribution_types,
            "excludes": self.excludes, "publisher": publisher,
        }))
    }
}

/// A content, and when it was issued.
#[derive(Clone, Debug)]
pub struct Issue {
    pub content: Content,
    /// Unix seconds.
    pub issued_at: i64,
    pub as_of_block: i64,
    pub as_of_block_hash: Hash256,
}

/// How long a document is valid.
pub const VALID_S: i64 = 7_776_000;

impl Issue {
    pub fn expires_at(&self) -> i64 {
        self.issued_at + VALID_S
    }
}
