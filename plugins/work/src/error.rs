//! Errors of the filters: texts, statuses and codes.

use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    #[error("minReward: digits are wei, digits with a dot are FMX")]
    MinReward,
    #[error("kind: job, bounty, arena, question, endpoint, or several of them with commas")]
    Kind,
    #[error("agentId: a positive integer")]
    AgentId,
    #[error("sort: new or reward")]
    Sort,
}

const BAD_REQUEST: ErrorSpec =
    ErrorSpec::new(400, "bad_request", "correct the named part of the query, or leave it out");

impl ApiError for WorkError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST];

    fn spec(&self) -> ErrorSpec {
        BAD_REQUEST
    }
}
