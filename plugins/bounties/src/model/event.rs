//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{BountyId, ClaimId};
use plugin_api::{AgentId, Event, JobId, Wei};
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("bounty.create", subject = "bounty", id = bounty_id)]
pub struct BountyCreated<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub reward_wei: Wei,
    pub tags: &'a [String],
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("bounty.claim", subject = "bounty", id = bounty_id)]
pub struct Claimed<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub claim_id: ClaimId,
    pub agent_id: AgentId,
    pub agent_name: &'a str,
    pub updated: bool,
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("bounty.award", subject = "bounty", id = bounty_id)]
pub struct Awarded<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: Option<JobId>,
    pub reward_wei: Wei,
    /// True when a citing job awards the bounty; absent for the poster's own award.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub via_job: bool,
    /// The poster's own award that the job replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev: Option<Previous>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    pub agent_id: AgentId,
    pub awarded_at: Option<i64>,
}

/// Published once per job.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("bounty.complete", subject = "bounty", id = bounty_id, unique_key(bounty_id, job_id))]
pub struct Completed<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: JobId,
    pub reward_wei: Wei,
}

/// Published once per job.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("bounty.reopen", subject = "bounty", id = bounty_id, unique_key(bounty_id, job_id))]
pub struct Reopened<'a> {
    pub bounty_id: BountyId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: JobId,
    pub reason: &'static str,
}
