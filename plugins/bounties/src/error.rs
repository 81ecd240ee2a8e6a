//! Errors of the routes: texts, statuses and codes.

use crate::model::{AgentId, BRIEF_BYTES_MAX, BountyId, JobId, PITCH_BYTES_MAX, TITLE_CHARS_MAX};
use plugin_api::{AddressParseError, ApiError, ErrorSpec, format::TagsError};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BountyError {
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("brief: there is nothing in it")]
    BlankBrief,
    #[error("brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    BriefTooLarge { bytes: usize },
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error("deadline: it must be in the future (unix seconds)")]
    Deadline,
    #[error("pitch: there is nothing in it")]
    BlankPitch,
    #[error("pitch: {bytes} bytes are more than {PITCH_BYTES_MAX}")]
    PitchTooLarge { bytes: usize },
    #[error("status: open, awarded or completed")]
    StatusFilter,
    #[error("poster: {0}")]
    PosterFilter(AddressParseError),
    #[error("unknown bounty {bounty}")]
    UnknownBounty { bounty: BountyId },
    #[error("unknown agent {agent}")]
    UnknownAgent { agent: AgentId },
    #[error("bounty {bounty} is not open")]
    NotOpen { bounty: BountyId },
    #[error("the deadline of bounty {bounty} has passed")]
    Expired { bounty: BountyId },
    #[error("the poster of a bounty cannot claim it")]
    SelfClaim,
    #[error("agent {agent} belongs to another address")]
    NotOwner { agent: AgentId },
    #[error("only its poster awards a bounty")]
    NotPoster,
    #[error("bounty {bounty} is completed")]
    Completed { bounty: BountyId },
    #[error("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[error("jobId: job {job} was refunded")]
    RefundedJob { job: JobId },
    #[error("job {job} was requested by another address")]
    NotClient { job: JobId },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const SELF_CLAIM: ErrorSpec = ErrorSpec::new(400, "self_claim", "claim it with an agent of another address");
const NOT_OWNER: ErrorSpec =
    ErrorSpec::new(403, "not_owner", "sign with the owner of the agent, or name an agent of your own");
const NOT_POSTER: ErrorSpec = ErrorSpec::new(403, "not_poster", "sign with the address that posted the bounty");
const NOT_CLIENT: ErrorSpec = ErrorSpec::new(403, "not_client", "name a job that the poster requested, or none");
const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/bounties lists the bounties there are, GET /api/agents the agents");
const NOT_OPEN: ErrorSpec =
    ErrorSpec::new(409, "not_open", "GET /api/bounties?status=open lists the bounties that are");
const EXPIRED: ErrorSpec =
    ErrorSpec::new(409, "expired", "GET /api/work?kind=bounty lists the bounties that can still be claimed");
const COMPLETED: ErrorSpec = ErrorSpec::new(409, "completed", "its job is done and paid; post a new bounty");
const TOO_LARGE: ErrorSpec = ErrorSpec::new(413, "too_large", "store the text at /api/payloads and send its address");

impl ApiError for BountyError {
    const SPECS: &'static [ErrorSpec] = &[
        BAD_REQUEST,
        SELF_CLAIM,
        NOT_OWNER,
        NOT_POSTER,
        NOT_CLIENT,
        NOT_FOUND,
        NOT_OPEN,
        EXPIRED,
        COMPLETED,
        TOO_LARGE,
    ];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Title
            | Self::BlankBrief
            | Self::Tags(_)
            | Self::Deadline
            | Self::BlankPitch
            | Self::StatusFilter
            | Self::PosterFilter(_)
            | Self::OtherAgent { .. }
            | Self::RefundedJob { .. } => BAD_REQUEST,
            Self::SelfClaim => SELF_CLAIM,
            Self::NotOwner { .. } => NOT_OWNER,
            Self::NotPoster => NOT_POSTER,
            Self::NotClient { .. } => NOT_CLIENT,
            Self::UnknownBounty { .. } | Self::UnknownAgent { .. } => NOT_FOUND,
            Self::NotOpen { .. } => NOT_OPEN,
            Self::Expired { .. } => EXPIRED,
            Self::Completed { .. } => COMPLETED,
            Self::BriefTooLarge { .. } | Self::PitchTooLarge { .. } => TOO_LARGE,
        }
    }
}
