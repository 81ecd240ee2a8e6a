//! Errors of the routes: texts, statuses and codes.

use crate::model::{BODY_BYTES_MAX, SUBJECT_CHARS_MAX};
use plugin_api::{AgentId, ApiError};

#[derive(Debug, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum MessageError {
    #[error("subject: at most {SUBJECT_CHARS_MAX} characters")]
    Subject,
    #[error("body: there is nothing in it")]
    BlankBody,
    #[error("body: {bytes} bytes are more than {BODY_BYTES_MAX}")]
    #[api(413, "too_large", hint = "send several messages, or store the text at /api/payloads and send its hash")]
    BodyTooLarge { bytes: usize },
    #[error("unknown agent {agent}")]
    #[api(404, "not_found", hint = "GET /api/agents lists the agents there are; an address needs no agent")]
    UnknownAgent { agent: AgentId },
}
