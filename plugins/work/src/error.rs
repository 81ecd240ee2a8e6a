//! Errors of the filters: texts, statuses and codes.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named part of the query, or leave it out")]
pub enum WorkError {
    #[api("minReward: digits are wei, digits with a dot are FMX")]
    MinReward,
    #[api("kind: job, bounty, arena, question, endpoint, or several of them with commas")]
    Kind,
    #[api("agentId: a positive integer")]
    AgentId,
    #[api("sort: new or reward")]
    Sort,
}
