//! Errors of the routes: texts, statuses and codes. Two types, because each route documents all codes of its error type.

use plugin_api::{AgentId, ApiError, JobId};

/// A record that does not exist.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(404, "not_found", hint = "GET /api/agents and GET /api/jobs list what there is")]
pub enum UnknownRecord {
    #[api("unknown agent {0}")]
    Agent(AgentId),
    #[api("unknown job {0}")]
    Job(JobId),
}

/// A filter that is not an address.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", "{member}: {reason}", hint = "filter by an account's address, or leave the filter out")]
pub struct AddressFilterError {
    pub member: &'static str,
    pub reason: &'static str,
}
