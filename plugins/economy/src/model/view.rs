//! Response types of all records but streams. Each is its row in the store, too; members that no column has are added later.

use plugin_api::{Address, Author, Hash256, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

/// What one can subscribe to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub id: i64,
    pub payee: Author,
    pub price_per_period: Wei,
    /// Seconds.
    pub period: i64,
    /// Whether one can subscribe now.
    pub active: bool,
    #[serde(rename = "metadataURI")]
    pub metadata_uri: String,
    /// Unix seconds.
    pub created_at: i64,
    pub updated_at_block: i64,
    /// Subscriptions that are paid and not cancelled.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub active_subs: i64,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubView {
    pub id: i64,
    pub plan_id: i64,
    pub payer: Author,
    /// The plan's.
    pub payee: Option<Author>,
    /// The plan's.
    pub price_per_period: Option<Wei>,
    /// The plan's, in seconds.
    pub period: Option<i64>,
    /// Unix seconds; at most 2^63 - 1.
    pub paid_through: i64,
    pub cancelled: bool,
    /// Not cancelled, and paid for longer than now.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub active: bool,
    /// Unix seconds.
    pub created_at: i64,
    pub updated_at_block: i64,
}

impl SubView {
    /// The subscription at this second.
    pub fn at(self, now_s: i64) -> Self {
        Self { active: !self.cancelled && self.paid_through > now_s, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaseStatus {
    Open,
    Closed,
}

/// A dispute about a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
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

/// An agent's token; also its row in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    pub token: Address,
    pub agent_id: i64,
    pub symbol: String,
    /// Unix seconds.
    pub launched_at: i64,
    pub buys: i64,
    pub sells: i64,
    /// What buyers paid, the fee included.
    pub fmx_in: Wei,
    /// What sellers got.
    pub fmx_out: Wei,
    /// What was shared out among holders.
    pub distributed: Wei,
    pub tx_launched: Option<Hash256>,
    pub agent_name: Option<String>,
    /// Of the agent.
    pub owner: Option<Address>,
}

/// An account of the factory; also its row in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    pub account: Address,
    /// Who it was made for; the factory does not tell of later owners.
    pub owner: Address,
    /// Unix seconds.
    pub created_at: i64,
    pub tx_hash: Option<Hash256>,
}
