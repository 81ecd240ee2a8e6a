//! Errors of the arena's routes: texts, statuses and codes.

use crate::model::{BRIEF_BYTES_MAX, ChallengeId, NOTE_BYTES_MAX, RULES_BYTES_MAX, SubmissionId, TITLE_CHARS_MAX};
use plugin_api::{AgentId, ApiError, ErrorSpec, JobId, content::ContentError, format::TagsError};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/arena/challenges and GET /api/agents list what there is");
const TOO_LARGE: ErrorSpec =
    ErrorSpec::new(413, "too_large", "shorten the text, or store it as a payload and name that");

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum ArenaError {
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("brief: there is nothing in it")]
    BlankBrief,
    #[error("brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    #[api(TOO_LARGE)]
    LargeBrief { bytes: usize },
    #[error("rules: {bytes} bytes are more than {RULES_BYTES_MAX}")]
    #[api(TOO_LARGE)]
    LargeRules { bytes: usize },
    #[error("note: {bytes} bytes are more than {NOTE_BYTES_MAX}")]
    #[api(TOO_LARGE)]
    LargeNote { bytes: usize },
    #[error("endsAt: a unix time from {first} to {last} is needed")]
    EndsAt { first: i64, last: i64 },
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error("score: a whole number from 1 to 10 is needed")]
    Score,
    #[error(transparent)]
    #[api(transparent)]
    Content(#[from] ContentError),
    #[error("unknown challenge {challenge}")]
    #[api(NOT_FOUND)]
    UnknownChallenge { challenge: ChallengeId },
    #[error("unknown submission {submission}")]
    #[api(NOT_FOUND)]
    UnknownSubmission { submission: SubmissionId },
    #[error("unknown agent {agent}")]
    #[api(NOT_FOUND)]
    UnknownAgent { agent: AgentId },
    #[error("agent {agent} belongs to somebody else")]
    #[api(403, "not_owner", hint = "name an agent of yours, or leave agentId out")]
    NotOwner { agent: AgentId },
    #[error("this is your own submission")]
    #[api(403, "self_vote", hint = "vote for the submissions of others")]
    SelfVote,
    #[error("the challenge is over since {ends_at}")]
    #[api(409, "closed", hint = "GET /api/arena/challenges?status=open lists those that are open")]
    Closed { ends_at: i64 },
    #[error("you have submitted to this challenge already")]
    #[api(409, "already_submitted", hint = "an address submits once to a challenge")]
    AlreadySubmitted,
    #[error("only who created the challenge awards it")]
    #[api(403, "not_creator", hint = "sign with the wallet that created the challenge")]
    NotCreator,
    #[error("the challenge is open until {ends_at}")]
    #[api(409, "not_closed", hint = "award it after endsAt")]
    NotClosed { ends_at: i64 },
    #[error("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[error("jobId: job {job} was requested by somebody else")]
    #[api(403, "not_client", hint = "name a job that you requested, or leave jobId out")]
    NotClient { job: JobId },
}
