//! Errors of the routes: texts, statuses and codes.

use crate::model::{AgentId, BODY_BYTES_MAX, SUBJECT_CHARS_MAX};
use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    #[error("subject: at most {SUBJECT_CHARS_MAX} characters")]
    Subject,
    #[error("body: there is nothing in it")]
    BlankBody,
    #[error("body: {bytes} bytes are more than {BODY_BYTES_MAX}")]
    BodyTooLarge { bytes: usize },
    #[error("unknown agent {agent}")]
    UnknownAgent { agent: AgentId },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/agents lists the agents there are; an address needs no agent");
const TOO_LARGE: ErrorSpec =
    ErrorSpec::new(413, "too_large", "send several messages, or store the text at /api/payloads and send its hash");

impl ApiError for MessageError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST, NOT_FOUND, TOO_LARGE];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Subject | Self::BlankBody => BAD_REQUEST,
            Self::UnknownAgent { .. } => NOT_FOUND,
            Self::BodyTooLarge { .. } => TOO_LARGE,
        }
    }
}
