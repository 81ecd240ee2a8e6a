//! Errors of the routes: texts, statuses and codes.

use crate::{
    limits::{BRIEF_BYTES_MAX, PITCH_BYTES_MAX, TITLE_CHARS_MAX},
    model::BountyId,
};
use plugin_api::{AgentId, ApiError, ErrorSpec, JobId, format::TagsError};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/bounties lists the bounties there are, GET /api/agents the agents");
const TOO_LARGE: ErrorSpec = ErrorSpec::new(413, "too_large", "store the text at /api/payloads and send its address");

#[derive(Debug, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum BountyError {
    #[api("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[api("brief: there is nothing in it")]
    BlankBrief,
    #[api(TOO_LARGE, "brief: {bytes} bytes are more than {BRIEF_BYTES_MAX}")]
    BriefTooLarge { bytes: usize },
    #[api("tags: {0}")]
    Tags(TagsError),
    #[api("deadline: it must be in the future (unix seconds)")]
    Deadline,
    #[api("pitch: there is nothing in it")]
    BlankPitch,
    #[api(TOO_LARGE, "pitch: {bytes} bytes are more than {PITCH_BYTES_MAX}")]
    PitchTooLarge { bytes: usize },
    #[api("status: open, awarded or completed")]
    StatusFilter,
    #[api("poster: {0}")]
    PosterFilter(&'static str),
    #[api(NOT_FOUND, "unknown bounty {bounty}")]
    UnknownBounty { bounty: BountyId },
    #[api(NOT_FOUND, "unknown agent {agent}")]
    UnknownAgent { agent: AgentId },
    #[api(
        409,
        "not_open",
        "bounty {bounty} is not open",
        hint = "GET /api/bounties?status=open lists the bounties that are"
    )]
    NotOpen { bounty: BountyId },
    #[api(
        409,
        "expired",
        "the deadline of bounty {bounty} has passed",
        hint = "GET /api/work?kind=bounty lists the bounties that can still be claimed"
    )]
    Expired { bounty: BountyId },
    #[api(
        400,
        "self_claim",
        "the poster of a bounty cannot claim it",
        hint = "claim it with an agent of another address"
    )]
    SelfClaim,
    #[api(
        403,
        "not_owner",
        "agent {agent} belongs to another address",
        hint = "sign with the owner of the agent, or name an agent of your own"
    )]
    NotOwner { agent: AgentId },
    #[api(403, "not_poster", "only its poster awards a bounty", hint = "sign with the address that posted the bounty")]
    NotPoster,
    #[api(409, "completed", "bounty {bounty} is completed", hint = "its job is done and paid; post a new bounty")]
    Completed { bounty: BountyId },
    #[api("jobId: job {job} is for another agent")]
    OtherAgent { job: JobId },
    #[api("jobId: job {job} was refunded")]
    RefundedJob { job: JobId },
    #[api(
        403,
        "not_client",
        "job {job} was requested by another address",
        hint = "name a job that the poster requested, or none"
    )]
    NotClient { job: JobId },
}
