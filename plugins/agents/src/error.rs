//! Errors of the routes: texts, statuses and codes.

use crate::model::{AgentId, JobId};
use plugin_api::{AddressParseError, ApiError, ErrorSpec};

/// A record that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRecord {
    #[error("unknown agent {0}")]
    Agent(AgentId),
    #[error("unknown job {0}")]
    Job(JobId),
}

const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/agents and GET /api/jobs list what there is");

impl ApiError for UnknownRecord {
    const SPECS: &'static [ErrorSpec] = &[NOT_FOUND];

    fn spec(&self) -> ErrorSpec {
        NOT_FOUND
    }
}

/// A filter that is not an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {reason}")]
pub struct AddressFilterError {
    pub member: &'static str,
    pub reason: AddressParseError,
}

const BAD_FILTER: ErrorSpec =
    ErrorSpec::new(400, "bad_request", "filter by an account's address, or leave the filter out");

impl ApiError for AddressFilterError {
    const SPECS: &'static [ErrorSpec] = &[BAD_FILTER];

    fn spec(&self) -> ErrorSpec {
        BAD_FILTER
    }
}
