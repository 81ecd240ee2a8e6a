//! Errors of the economy's lists: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named filter, or leave it out")]
pub enum EconomyError {
    #[error("{filter}: {reason}")]
    Address { filter: &'static str, reason: &'static str },
    #[error("{filter}: an id is a positive whole number")]
    Id { filter: &'static str },
    #[error("status: one of {expected} is needed")]
    Status { expected: &'static str },
}
