//! Errors of the routes: texts, statuses and codes. Two types, because each route documents all codes of its error type.

use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named part of the query, or leave it out")]
pub enum QueryError {
    #[api("kind: all, hire or x402")]
    Kind,
    #[api("agentId: a positive whole number")]
    AgentId,
    #[api("minJobs: a whole number, 1 or more")]
    MinJobs,
}

/// An agent that does not exist, by id or slug.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(404, "not_found", "unknown agent {0}", hint = "GET /api/agents lists the agents")]
pub struct UnknownAgent(pub String);
