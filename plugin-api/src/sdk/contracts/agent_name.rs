//! How paths name an agent.

use super::AgentId;
use crate::{Sql, sql};

/// An agent by its number or its slug, as a segment of a path: digits are the number, anything else is the slug in any case.
///
/// ```
/// use plugin_api::{AgentId, contracts::registry::AgentName};
///
/// assert_eq!(AgentName::parse("007"), Some(AgentName::Id(AgentId(7))));
/// assert_eq!(AgentName::parse("Data-Miner"), Some(AgentName::Slug("data-miner".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentName {
    Id(AgentId),
    Slug(String),
}

impl AgentName {
    /// `None` for a number that no id reaches.
    pub fn parse(segment: &str) -> Option<Self> {
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            return segment.parse().ok().map(|id| Self::Id(AgentId(id)));
        }
        Some(Self::Slug(segment.to_lowercase()))
    }

    /// Selects these columns of the agent in `agents_v1`, the view of the plugin agents. Of several agents with one slug it is the oldest,
    /// whatever its status.
    pub fn select(&self, columns: &str) -> Sql {
        match self {
            Self::Id(id) => sql(format!("SELECT {columns} FROM agents_v1 WHERE agent_id = $1")).bind(*id),
            Self::Slug(slug) => {
                sql(format!("SELECT {columns} FROM agents_v1 WHERE slug = $1 ORDER BY agent_id LIMIT 1")).bind(slug)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_an_id() {
        assert_eq!(AgentName::parse("007"), Some(AgentName::Id(AgentId(7))));
        assert_eq!(AgentName::parse("99999999999999999999"), None);
        for (segment, slug) in [("Data-Miner", "data-miner"), ("7a", "7a"), ("-7", "-7"), ("", ""), ("٧", "٧")] {
            assert_eq!(AgentName::parse(segment), Some(AgentName::Slug(slug.to_owned())), "{segment}");
        }
    }
}
