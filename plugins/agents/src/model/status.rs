//! Statuses of agents and jobs: capitalised in responses, in either case in filters, numbers on the chain.

use plugin_api::{Bind, JsonSchema, Value};
use serde::{Deserialize, Serialize};

/// What an agent's owner made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AgentStatus {
    None,
    Active,
    Paused,
    Retired,
}

impl AgentStatus {
    /// From the registry's number. An unknown number is `None`, as for an agent that does not exist.
    pub fn from_chain(number: u8) -> Self {
        match number {
            1 => Self::Active,
            2 => Self::Paused,
            3 => Self::Retired,
            _ => Self::None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Active => "Active",
            Self::Paused => "Paused",
            Self::Retired => "Retired",
        }
    }
}

impl Bind for AgentStatus {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum JobStatus {
    Open,
    Delivered,
    Completed,
    Refunded,
    Disputed,
    Resolved,
}

impl JobStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Delivered => "Delivered",
            Self::Completed => "Completed",
            Self::Refunded => "Refunded",
            Self::Disputed => "Disputed",
            Self::Resolved => "Resolved",
        }
    }
}

impl Bind for JobStatus {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}

/// An unknown status filters nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentStatusFilter {
    #[default]
    #[serde(skip)]
    Any,
    #[serde(alias = "Active")]
    Active,
    #[serde(alias = "Paused")]
    Paused,
    #[serde(alias = "Retired")]
    Retired,
    #[serde(alias = "None")]
    None,
}

impl AgentStatusFilter {
    pub fn status(self) -> Option<AgentStatus> {
        match self {
            Self::Any => None,
            Self::Active => Some(AgentStatus::Active),
            Self::Paused => Some(AgentStatus::Paused),
            Self::Retired => Some(AgentStatus::Retired),
            Self::None => Some(AgentStatus::None),
        }
    }
}

/// An unknown status filters nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobStatusFilter {
    #[default]
    #[serde(skip)]
    Any,
    #[serde(alias = "Open")]
    Open,
    #[serde(alias = "Delivered")]
    Delivered,
    #[serde(alias = "Completed")]
    Completed,
    #[serde(alias = "Refunded")]
    Refunded,
    #[serde(alias = "Disputed")]
    Disputed,
    #[serde(alias = "Resolved")]
    Resolved,
}

impl JobStatusFilter {
    pub fn status(self) -> Option<JobStatus> {
        match self {
            Self::Any => None,
            Self::Open => Some(JobStatus::Open),
            Self::Delivered => Some(JobStatus::Delivered),
            Self::Completed => Some(JobStatus::Completed),
            Self::Refunded => Some(JobStatus::Refunded),
            Self::Disputed => Some(JobStatus::Disputed),
            Self::Resolved => Some(JobStatus::Resolved),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_state_is_stored_as_it_is_answered() {
        for status in [AgentStatus::None, AgentStatus::Active, AgentStatus::Paused, AgentStatus::Retired] {
            assert_eq!(json!(status), json!(status.as_str()));
        }
        let all = ["open", "delivered", "completed", "refunded", "disputed", "resolved"];
        for name in all {
            let filter: JobStatusFilter = serde_json::from_value(json!(name)).unwrap();
            let status = filter.status().unwrap();
            assert_eq!(json!(status), json!(status.as_str()));
            assert_eq!(status.as_str().to_lowercase(), name);
            assert_eq!(serde_json::from_value::<JobStatusFilter>(json!(status.as_str())).unwrap(), filter);
        }
    }

    #[test]
    fn the_registrys_numbers() {
        let names = [0, 1, 2, 3, 4, 255].map(|number| AgentStatus::from_chain(number).as_str());
        assert_eq!(names, ["None", "Active", "Paused", "Retired", "None", "None"]);
    }
}
