//! Response types.

use super::{BountyId, ClaimId};
use crate::error::BountyError;
use plugin_api::{AgentId, Author, JobId, JsonSchema, Wei, handles::Bind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody is awarded, or the escrow job was refunded.
    Open,
    /// The poster awarded an agent, or hired one for it.
    Awarded,
    /// The escrow job is completed.
    Completed,
}

impl Status {
    /// The status that a list is filtered by; `None` when the text is empty.
    pub fn filter(text: &str) -> Result<Option<Self>, BountyError> {
        let statuses = [Self::Open, Self::Awarded, Self::Completed];
        let named = statuses.into_iter().find(|status| status.name() == text);
        if named.is_none() && !text.is_empty() { Err(BountyError::StatusFilter) } else { Ok(named) }
    }
}

/// A bounty in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BountyView<'r> {
    #[serde(flatten)]
    pub text: BountyText,
    #[serde(flatten)]
    pub state: BountyState<'r>,
}

/// What never changes of a bounty: its row keeps it as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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

// Row and response are one struct.
/// What is true of a bounty when it is read.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BountyState<'r> {
    /// The rendered JSON of the [`BountyText`].
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub kept: &'r str,
    pub id: BountyId,
    pub status: Status,
    pub poster: Author,
    /// The poster once more.
    pub author: Author,
    pub awarded_agent_id: Option<AgentId>,
    #[serde(borrow)]
    pub awarded_agent_name: Option<&'r str>,
    /// The escrow job that pays it.
    pub job_id: Option<JobId>,
    /// `Open`, `Delivered`, `Completed`, `Disputed` or `Resolved`; null while the job is not indexed.
    #[serde(borrow)]
    pub job_status: Option<&'r str>,
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct BountyDetail<'r> {
    #[serde(flatten)]
    pub bounty: BountyView<'r>,
    pub claims: Vec<ClaimView>,
}

/// The members of a [`BountyDetail`] that are not in the row's rendered JSON.
#[derive(Serialize)]
pub struct DetailState<'r> {
    #[serde(flatten)]
    pub state: BountyState<'r>,
    pub claims: Vec<ClaimView>,
}

#[derive(Debug, Serialize, JsonSchema)]
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

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    pub agent_id: AgentId,
    pub name: Option<String>,
}
