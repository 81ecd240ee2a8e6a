//! Errors of the routes: texts, statuses and codes.

use crate::model::{BRIEF_BYTES_MAX, BountyId, PITCH_BYTES_MAX, TITLE_CHARS_MAX};
use plugin_api::{AgentId, ApiError, ErrorSpec, JobId, format::TagsError};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/bounties lists the bounties there are, GET /api/agents the agents");
const TOO_LARGE: ErrorSpec = ErrorSpec::new(413, "too_large", "store the text at /api/payloads and send its address");

#[derive(Debug, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum BountyError {
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("brief: there is nothing in it")]
    BlankBrief,
    #[error("brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    #[api(TOO_LARGE)]
    BriefTooLarge { bytes: usize },
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error("deadline: it must be in the future (unix seconds)")]
    Deadline,
    #[error("pitch: there is nothing in it")]
    BlankPitch,
    #[error("pitch: {bytes} bytes are more than {PITCH_BYTES_MAX}")]
    #[api(TOO_LARGE)]
    PitchTooLarge { bytes: usize },
    #[error("status: open, awarded or completed")]
    StatusFilter,
    #[error("poster: {0}")]
    PosterFilter(&'static str),
    #[error("unknown bounty {bounty}")]
    #[api(NOT_FOUND)]
    UnknownBounty { bounty: BountyId },
    #[error("unknown agent {agent}")]
    #[api(NOT_FOUND)]
    UnknownAgent { agent: AgentId },
    #[error("bounty {bounty} is not open")]
    #[api(409, "not_open", hint = "GET /api/bounties?status=open lists the bounties that are")]
    NotOpen { bounty: BountyId },
    #[error("the deadline of bounty {bounty} has passed")]
    #[api(409, "expired", hint = "GET /api/work?kind=bounty lists the bounties that can still be claimed")]
    Expired { bounty: BountyId },
    #[error("the poster of a bounty cannot claim it")]
    #[api(400, "self_claim", hint = "claim it with an agent of another address")]
    SelfClaim,
    #[error("agent {agent} belongs to another address")]
    #[api(403, "not_owner", hint = "sign with the owner of the agent, or name an agent of your own")]
    NotOwner { agent: AgentId },
    #[error("only its poster awards a bounty")]
    #[api(403, "not_poster", hint = "sign with the address that posted the bounty")]
    NotPoster,
    #[error("bounty {bounty} is completed")]
    #[api(409, "completed", hint = "its job is done and paid; post a new bounty")]
    Completed { bounty: BountyId },
    #[error("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[error("jobId: job {job} was refunded")]
    RefundedJob { job: JobId },
    #[error("job {job} was requested by another address")]
    #[api(403, "not_client", hint = "name a job that the poster requested, or none")]
    NotClient { job: JobId },
}
