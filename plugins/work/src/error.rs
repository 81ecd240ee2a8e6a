//! Errors of the filters: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named part of the query, or leave it out")]
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
