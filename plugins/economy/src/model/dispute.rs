//! Cases of the arbiter pool.

use plugin_api::{Address, Hash256, JsonSchema, point::Author};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaseStatus {
    Open,
    Closed,
}

impl CaseStatus {
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "open" => Some(Self::Open),
            "closed" => Some(Self::Closed),
            _ => None,
        }
    }

    pub fn of(closed: bool) -> Self {
        if closed { Self::Closed } else { Self::Open }
    }
}

/// A dispute about a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisputeView {
    pub id: i64,
    pub job_id: i64,
    pub opener: Author,
    /// What the opener named.
    #[serde(rename = "evidenceURI")]
    pub evidence_uri: String,
    /// Unix seconds.
    pub opened_at: i64,
    pub votes: i64,
    pub closed: bool,
    pub status: CaseStatus,
    /// The client's share in 1/10000; null while open.
    pub result: Option<i64>,
    /// Unix seconds.
    pub closed_at: Option<i64>,
    pub tx_opened: Option<Hash256>,
    pub updated_at_block: i64,
    /// The job's agent.
    pub agent_id: Option<i64>,
    /// The job's client.
    pub client: Option<Address>,
    /// What was submitted later, in the order of the chain.
    pub evidence: Vec<EvidenceView>,
}

/// Evidence in a case; also its row in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceView {
    pub id: i64,
    pub case_id: i64,
    pub by: Address,
    pub uri: String,
    /// Unix seconds.
    pub ts: i64,
    pub tx_hash: Option<Hash256>,
}
