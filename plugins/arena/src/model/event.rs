//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{AgentId, ChallengeId, JobId, SubmissionId};
use plugin_api::{Address, EventBuilder, HostError, Wei};
use serde::Serialize;

pub const EVENT_TYPES: [&str; 5] = ["arena.create", "arena.submit", "arena.vote", "arena.close", "arena.award"];

macro_rules! about_a_challenge {
    ($($data:ident $kind:literal)*) => {$(
        impl $data<'_> {
            pub fn by(&self, actor: Address, at_s: i64) -> Result<EventBuilder, HostError> {
                Ok(EventBuilder::new($kind, self).actor(actor).subject("challenge", self.challenge_id).at(at_s))
            }
        }
    )*};
}

about_a_challenge! {
    Created "arena.create" Submitted "arena.submit" Voted "arena.vote" Closed "arena.close" Awarded "arena.award"
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Created<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub prize_wei: Wei,
    pub ends_at: i64,
    pub tags: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submitted<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub submission_id: SubmissionId,
    pub agent_id: Option<AgentId>,
    pub agent_name: Option<&'a str>,
    /// An excerpt.
    pub note: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Voted<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub submission_id: SubmissionId,
    pub score: i64,
    pub weight: i64,
    pub updated: bool,
}

/// The actor is the creator, the time is `endsAt`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed<'a> {
    pub challenge_id: ChallengeId,
    pub title: &'a str,
    pub prize_wei: Wei,
    pub winner_submission_id: Option<SubmissionId>,
    pub winner: Option<Address>,
    pub winner_agent_id: Option<AgentId>,
    pub submissions: i64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Awarded<'a> {
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
    pub prev: Option<Previous>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Previous {
    pub agent_id: AgentId,
    pub awarded_at: Option<i64>,
}
