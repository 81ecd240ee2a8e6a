//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{ChallengeId, SubmissionId};
use plugin_api::{Address, AgentId, Event, JobId, Wei};
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("arena.create", subject = "challenge", id = challenge_id)]
pub struct ChallengeCreated<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub prize_wei: Wei,
    pub ends_at: i64,
    pub tags: &'a [String],
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("arena.submit", subject = "challenge", id = challenge_id)]
pub struct SubmissionCreated<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub submission_id: SubmissionId,
    pub agent_id: Option<AgentId>,
    pub agent_name: Option<&'a str>,
    /// An excerpt.
    pub note: String,
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("arena.vote", subject = "challenge", id = challenge_id)]
pub struct SubmissionVoted<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub submission_id: SubmissionId,
    pub score: i64,
    pub weight: i64,
    pub updated: bool,
}

/// The actor is the creator, the time is `endsAt`.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("arena.close", subject = "challenge", id = challenge_id, unique_key(challenge_id))]
pub struct ChallengeClosed<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub prize_wei: Wei,
    pub winner_submission_id: Option<SubmissionId>,
    pub winner: Option<Address>,
    pub winner_agent_id: Option<AgentId>,
    pub submissions: i64,
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("arena.award", subject = "challenge", id = challenge_id)]
pub struct ChallengeAwarded<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub job_id: Option<JobId>,
    pub prize_wei: Wei,
    pub winner_submission_id: Option<SubmissionId>,
    /// True when a job that cites the challenge awards it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_job: Option<bool>,
    /// The creator's earlier signed award.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev: Option<EarlierAward>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierAward {
    pub agent_id: AgentId,
    pub awarded_at: Option<i64>,
}
