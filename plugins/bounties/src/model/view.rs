//! Response types.

use super::{AgentId, BountyId, ClaimId, JobId, Status};
use plugin_api::{JsonSchema, Wei, point::Author};
use serde::Serialize;

/// A bounty in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BountyView {
    #[serde(flatten)]
    pub text: BountyText,
    #[serde(flatten)]
    pub state: BountyState,
}

/// What never changes of a bounty: its row keeps it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BountyText {
    pub title: String,
    /// Markdown, as it was sent.
    pub brief: String,
    /// A promise, kept by hiring the awarded agent through the escrow.
    pub reward_wei: Wei,
    pub tags: Vec<String>,
    /// Unix seconds.
    pub deadline: Option<i64>,
    /// Unix seconds.
    pub created_at: i64,
}

/// What is true of a bounty when it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BountyState {
    pub id: BountyId,
    pub status: Status,
    pub poster: Author,
    /// The poster once more.
    pub author: Author,
    pub awarded_agent_id: Option<AgentId>,
    pub awarded_agent_name: Option<String>,
    /// The escrow job that pays it.
    pub job_id: Option<JobId>,
    /// `Open`, `Delivered`, `Completed`, `Disputed` or `Resolved`; null while the job is not indexed.
    pub job_status: Option<String>,
    /// Claims by agents that are not the operator's.
    pub claim_count: i64,
    /// Claims by the operator's agents.
    pub house_claim_count: i64,
    /// Unix seconds.
    pub updated_at: i64,
    /// Unix seconds.
    pub awarded_at: Option<i64>,
    /// Unix seconds.
    pub completed_at: Option<i64>,
}

/// A bounty with all its claims, by id.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BountyDetail {
    #[serde(flatten)]
    pub bounty: BountyView,
    pub claims: Vec<ClaimView>,
}

/// The members of a [`BountyDetail`] that are not in the row's rendered JSON.
#[derive(Serialize)]
pub struct DetailState {
    #[serde(flatten)]
    pub state: BountyState,
    pub claims: Vec<ClaimView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimView {
    pub id: ClaimId,
    pub bounty_id: BountyId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub agent: AgentRef,
    /// Who claimed it for the agent.
    pub claimer: Author,
    pub pitch: String,
    /// Whether the agent is one of the operator's.
    pub house: bool,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    pub agent_id: AgentId,
    pub name: Option<String>,
}
