//! Errors of the economy's lists: texts, statuses and codes.

use plugin_api::{ApiError, BadAddress, Case};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EconomyError {
    #[error("{filter}: {reason}")]
    Address { filter: &'static str, reason: BadAddress },
    #[error("{filter}: an id is a positive whole number")]
    Id { filter: &'static str },
    #[error("status: one of {expected} is needed")]
    Status { expected: &'static str },
}

const BAD_REQUEST: Case = Case::new(400, "bad_request", "correct the named filter, or leave it out");

impl ApiError for EconomyError {
    const CASES: &'static [Case] = &[BAD_REQUEST];

    fn case(&self) -> Case {
        BAD_REQUEST
    }
}
