//! Errors of the economy's lists: texts, statuses and codes.

use plugin_api::{AddressParseError, ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EconomyError {
    #[error("{filter}: {reason}")]
    Address { filter: &'static str, reason: AddressParseError },
    #[error("{filter}: an id is a positive whole number")]
    Id { filter: &'static str },
    #[error("status: one of {expected} is needed")]
    Status { expected: &'static str },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named filter, or leave it out");

impl ApiError for EconomyError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST];

    fn spec(&self) -> ErrorSpec {
        BAD_REQUEST
    }
}
