//! Errors of the routes: texts, statuses and codes.

use crate::model::{AgentId, JobId};
use plugin_api::{ApiError, BadAddress, Case};

/// A record that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRecord {
    #[error("unknown agent {0}")]
    Agent(AgentId),
    #[error("unknown job {0}")]
    Job(JobId),
}

const NOT_FOUND: Case = Case::new(404, "not_found", "GET /api/agents and GET /api/jobs list what there is");

impl ApiError for UnknownRecord {
    const CASES: &'static [Case] = &[NOT_FOUND];

    fn case(&self) -> Case {
        NOT_FOUND
    }
}

/// A filter that is not an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{member}: {reason}")]
pub struct BadFilter {
    pub member: &'static str,
    pub reason: BadAddress,
}

const BAD_FILTER: Case = Case::new(400, "bad_request", "filter by an account's address, or leave the filter out");

impl ApiError for BadFilter {
    const CASES: &'static [Case] = &[BAD_FILTER];

    fn case(&self) -> Case {
        BAD_FILTER
    }
}
