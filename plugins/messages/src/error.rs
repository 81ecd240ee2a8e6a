//! Errors of the routes: texts, statuses and codes.

use crate::limits::{BODY_BYTES_MAX, SUBJECT_CHARS_MAX};
use plugin_api::{AgentId, ApiError};

#[derive(Debug, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum MessageError {
    #[api("subject: at most {SUBJECT_CHARS_MAX} characters")]
    Subject,
    #[api("body: there is nothing in it")]
    BlankBody,
    #[api(
        413,
        "too_large",
        "body: {bytes} bytes are more than {BODY_BYTES_MAX}",
        hint = "send several messages, or store the text at /api/payloads and send its hash"
    )]
    BodyTooLarge { bytes: usize },
    #[api(
        404,
        "not_found",
        "unknown agent {agent}",
        hint = "GET /api/agents lists the agents there are; an address needs no agent"
    )]
    UnknownAgent { agent: AgentId },
}
