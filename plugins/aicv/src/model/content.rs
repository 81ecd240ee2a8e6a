//! What a credential says, apart from when it was issued.
//!
//! The rule: a document is a function of its content, its issue and the limit, so that every gateway on the database makes the same
//! bytes of the stored row.

use super::{
    agent::{Agent, Namesake},
    tree,
    vocabulary::RELIABILITY,
};
use plugin_api::{Hash256, HostError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What is left out of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    #[serde(rename = "type")]
    pub kind: String,
    pub count: u64,
    /// `limit`, `cap`, `size`, `indexing`.
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
    pub excludes: Vec<Exclusion>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    pub what: String,
    pub why: String,
}

impl Content {
    /// The same as long as no claim and no state changes. What probes count changes with every probe and is left out: it is brought up
    /// to date with the next issue.
    pub fn fingerprint(&self, publisher: &Value) -> Result<Hash256, HostError> {
        let is_steady = |claim: &&Value| claim["type"] != RELIABILITY;
        let claims: Vec<&Value> = self.claims.iter().filter(is_steady).collect();
        let mut summary = self.summary.clone();
        summary.remove("uptime");
        tree::hash(&json!({
            "agent": self.agent, "namesakes": self.namesakes, "namesakeCount": self.namesake_count, "claims": claims,
            "omitted": self.omitted, "summary": summary, "covers": self.covers, "excludes": self.excludes,
            "publisher": publisher,
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
