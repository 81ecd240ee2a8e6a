//! Errors of the activity routes: texts, statuses and codes.

use crate::model::STATUS_CHARS_MAX;
use plugin_api::{AddressParseError, ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActivityError {
    #[error("actor: {0}")]
    Actor(AddressParseError),
    #[error("status: at most {STATUS_CHARS_MAX} characters")]
    Status,
}

const BAD_ACTOR: ErrorSpec = ErrorSpec::new(400, "bad_request", "filter by an account's address, or leave actor out");
const BAD_STATUS: ErrorSpec = ErrorSpec::new(400, "bad_request", "shorten the status and sign the new payload");

impl ApiError for ActivityError {
    const SPECS: &'static [ErrorSpec] = &[BAD_ACTOR];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Actor(_) => BAD_ACTOR,
            Self::Status => BAD_STATUS,
        }
    }
}
