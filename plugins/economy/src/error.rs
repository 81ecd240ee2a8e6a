//! Errors of the economy's lists: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named filter, or leave it out")]
pub enum EconomyError {
    #[api("{filter}: {reason}")]
    Address { filter: &'static str, reason: &'static str },
    #[api("{filter}: an id is a positive whole number")]
    Id { filter: &'static str },
    #[api("status: one of {expected} is needed")]
    Status { expected: &'static str },
}
