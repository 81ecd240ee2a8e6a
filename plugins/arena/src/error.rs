//! Errors of the arena's routes: texts, statuses and codes.

use crate::{
    limits::{BRIEF_BYTES_MAX, NOTE_BYTES_MAX, RULES_BYTES_MAX, TITLE_CHARS_MAX},
    model::{ChallengeId, SubmissionId},
};
use plugin_api::{AgentId, ApiError, ErrorSpec, JobId, content::ContentError, format::TagsError};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/arena/challenges and GET /api/agents list what there is");
const TOO_LARGE: ErrorSpec =
    ErrorSpec::new(413, "too_large", "shorten the text, or store it as a payload and name that");

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum ArenaError {
    #[api("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[api("brief: there is nothing in it")]
    BlankBrief,
    #[api(TOO_LARGE, "brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    LargeBrief { bytes: usize },
    #[api(TOO_LARGE, "rules: {bytes} bytes are more than {RULES_BYTES_MAX}")]
    LargeRules { bytes: usize },
    #[api(TOO_LARGE, "note: {bytes} bytes are more than {NOTE_BYTES_MAX}")]
    LargeNote { bytes: usize },
    #[api("endsAt: a unix time from {first} to {last} is needed")]
    EndsAt { first: i64, last: i64 },
    #[api("tags: {0}")]
    Tags(TagsError),
    #[api("score: a whole number from 1 to 10 is needed")]
    Score,
    #[api(transparent)]
    Content(#[from] ContentError),
    #[api(NOT_FOUND, "unknown challenge {challenge}")]
    UnknownChallenge { challenge: ChallengeId },
    #[api(NOT_FOUND, "unknown submission {submission}")]
    UnknownSubmission { submission: SubmissionId },
    #[api(NOT_FOUND, "unknown agent {agent}")]
    UnknownAgent { agent: AgentId },
    #[api(
        403,
        "not_owner",
        "agent {agent} belongs to somebody else",
        hint = "name an agent of yours, or leave agentId out"
    )]
    NotOwner { agent: AgentId },
    #[api(403, "self_vote", "this is your own submission", hint = "vote for the submissions of others")]
    SelfVote,
    #[api(
        409,
        "closed",
        "the challenge is over since {ends_at}",
        hint = "GET /api/arena/challenges?status=open lists those that are open"
    )]
    Closed { ends_at: i64 },
    #[api(
        409,
        "already_submitted",
        "you have submitted to this challenge already",
        hint = "an address submits once to a challenge"
    )]
    AlreadySubmitted,
    #[api(
        403,
        "not_creator",
        "only who created the challenge awards it",
        hint = "sign with the wallet that created the challenge"
    )]
    NotCreator,
    #[api(409, "not_closed", "the challenge is open until {ends_at}", hint = "award it after endsAt")]
    NotClosed { ends_at: i64 },
    #[api("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[api(
        403,
        "not_client",
        "jobId: job {job} was requested by somebody else",
        hint = "name a job that you requested, or leave jobId out"
    )]
    NotClient { job: JobId },
}
