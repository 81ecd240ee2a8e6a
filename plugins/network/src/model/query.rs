//! The query of the graph. A malformed value is an error, never ignored; a name that is not known is.

use super::Kind;
use crate::error::QueryError;
use plugin_api::{AgentId, JsonSchema, format::given};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NetworkQuery {
    /// `all` (default), `hire` (escrow jobs) or `x402` (settled vouchers).
    #[schemars(regex(pattern = "^(all|hire|x402)?$"))]
    kind: String,
    /// A part of a capability that the hired agent declares, in any case.
    capability: String,
    /// Only edges from or to this agent.
    #[schemars(with = "Option<u64>")]
    agent_id: Option<String>,
    /// Only edges of at least so many jobs or settlements.
    #[schemars(with = "Option<u64>")]
    min_jobs: Option<String>,
}

/// The query as it was understood.
#[derive(Debug, Default)]
pub struct EdgeFilter {
    pub kind: Option<Kind>,
    /// In lower case.
    pub capability: Option<String>,
    pub agent_id: Option<AgentId>,
    /// At least 1.
    pub min_jobs: i64,
}

impl NetworkQuery {
    pub fn check(&self) -> Result<EdgeFilter, QueryError> {
        let kind = match self.kind.trim() {
            "" | "all" => None,
            name => Some(Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or(QueryError::Kind)?),
        };
        let capability = given(&self.capability).map(str::to_lowercase);
        let agent_id = positive(self.agent_id.as_deref()).ok_or(QueryError::AgentId)?.map(AgentId);
        let min_jobs = positive(self.min_jobs.as_deref()).ok_or(QueryError::MinJobs)?.unwrap_or(1);
        Ok(EdgeFilter { kind, capability, agent_id, min_jobs })
    }
}

/// A positive number, `Some(None)` where there is none; a number that is too large finds nothing.
fn positive(text: Option<&str>) -> Option<Option<i64>> {
    let Some(text) = text.and_then(given) else { return Some(None) };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0');
    is_number.then(|| Some(text.parse().unwrap_or(i64::MAX)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positive() {
        assert_eq!([None, Some(""), Some(" ")].map(positive), [Some(None); 3]);
        assert_eq!(positive(Some("12")), Some(Some(12)));
        assert_eq!(positive(Some("99999999999999999999")), Some(Some(i64::MAX)));
        for text in ["0", "000", "-1", "+1", "1.5", "x", "1e3", "٣"] {
            assert_eq!(positive(Some(text)), None, "{text}");
        }
    }
}
