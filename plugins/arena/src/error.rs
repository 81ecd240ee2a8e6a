//! Errors of the arena's routes: texts, statuses and codes.

use crate::model::{
    AgentId, BRIEF_BYTES_MAX, ChallengeId, JobId, NOTE_BYTES_MAX, RULES_BYTES_MAX, SubmissionId, TITLE_CHARS_MAX,
};
use plugin_api::{ApiError, ContentError, ErrorSpec, format::TagsError};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArenaError {
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("brief: there is nothing in it")]
    BlankBrief,
    #[error("brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    LargeBrief { bytes: usize },
    #[error("rules: {bytes} bytes are more than {RULES_BYTES_MAX}")]
    LargeRules { bytes: usize },
    #[error("note: {bytes} bytes are more than {NOTE_BYTES_MAX}")]
    LargeNote { bytes: usize },
    #[error("endsAt: a unix time from {first} to {last} is needed")]
    EndsAt { first: i64, last: i64 },
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error("score: a whole number from 1 to 10 is needed")]
    Score,
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("unknown challenge {challenge}")]
    UnknownChallenge { challenge: ChallengeId },
    #[error("unknown submission {submission}")]
    UnknownSubmission { submission: SubmissionId },
    #[error("unknown agent {agent}")]
    UnknownAgent { agent: AgentId },
    #[error("agent {agent} belongs to somebody else")]
    NotOwner { agent: AgentId },
    #[error("this is your own submission")]
    SelfVote,
    #[error("the challenge is over since {ends_at}")]
    Closed { ends_at: i64 },
    #[error("you have submitted to this challenge already")]
    AlreadySubmitted,
    #[error("only who created the challenge awards it")]
    NotCreator,
    #[error("the challenge is open until {ends_at}")]
    NotClosed { ends_at: i64 },
    #[error("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[error("jobId: job {job} was requested by somebody else")]
    NotClient { job: JobId },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/arena/challenges and GET /api/agents list what there is");
const NOT_OWNER: ErrorSpec = ErrorSpec::new(403, "not_owner", "name an agent of yours, or leave agentId out");
const SELF_VOTE: ErrorSpec = ErrorSpec::new(403, "self_vote", "vote for the submissions of others");
const NOT_CREATOR: ErrorSpec = ErrorSpec::new(403, "not_creator", "sign with the wallet that created the challenge");
const NOT_CLIENT: ErrorSpec = ErrorSpec::new(403, "not_client", "name a job that you requested, or leave jobId out");
const CLOSED: ErrorSpec =
    ErrorSpec::new(409, "closed", "GET /api/arena/challenges?status=open lists those that are open");
const ALREADY_SUBMITTED: ErrorSpec = ErrorSpec::new(409, "already_submitted", "an address submits once to a challenge");
const NOT_CLOSED: ErrorSpec = ErrorSpec::new(409, "not_closed", "award it after endsAt");
const TOO_LARGE: ErrorSpec =
    ErrorSpec::new(413, "too_large", "shorten the text, or store it as a payload and name that");

impl ApiError for ArenaError {
    const SPECS: &'static [ErrorSpec] = &[
        BAD_REQUEST,
        ContentError::SPECS[1],
        ContentError::SPECS[2],
        NOT_OWNER,
        SELF_VOTE,
        NOT_CREATOR,
        NOT_CLIENT,
        NOT_FOUND,
        CLOSED,
        ALREADY_SUBMITTED,
        NOT_CLOSED,
        TOO_LARGE,
    ];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Title
            | Self::BlankBrief
            | Self::EndsAt { .. }
            | Self::Tags(_)
            | Self::Score
            | Self::OtherAgent { .. } => BAD_REQUEST,
            Self::LargeBrief { .. } | Self::LargeRules { .. } | Self::LargeNote { .. } => TOO_LARGE,
            Self::Content(content) => content.spec(),
            Self::UnknownChallenge { .. } | Self::UnknownSubmission { .. } | Self::UnknownAgent { .. } => NOT_FOUND,
            Self::NotOwner { .. } => NOT_OWNER,
            Self::SelfVote => SELF_VOTE,
            Self::Closed { .. } => CLOSED,
            Self::AlreadySubmitted => ALREADY_SUBMITTED,
            Self::NotCreator => NOT_CREATOR,
            Self::NotClosed { .. } => NOT_CLOSED,
            Self::NotClient { .. } => NOT_CLIENT,
        }
    }
}
