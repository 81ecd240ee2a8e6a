//! Statuses of agents and jobs: capitalised in rows and responses, in either case in filters, numbers on the chain.

use plugin_api::{JsonSchema, handles::Bind};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        DeserializeOwned, IntoDeserializer,
        value::{Error, StringDeserializer},
    },
};

/// What an agent's owner made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
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
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
pub enum JobStatus {
    Open,
    Delivered,
    Completed,
    Refunded,
    Disputed,
    Resolved,
}

/// `#[serde(default, deserialize_with = "status_filter")]`: a status, capitalised or in lower case. An unknown one is `None`,
/// which filters nothing.
pub fn status_filter<'de, D: Deserializer<'de>, Status: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<Status>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let name: StringDeserializer<Error> = first.into_iter().chain(letters).collect::<String>().into_deserializer();
    Ok(Status::deserialize(name).ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_filter_is_capitalised_or_in_lower_case() {
        let filter = |text: &str| -> Option<AgentStatus> { status_filter(json!(text)).unwrap() };
        for text in ["none", "None"] {
            assert_eq!(filter(text), Some(AgentStatus::None), "{text}");
        }
        for text in ["", "NONE", "nONE", "é", "1"] {
            assert_eq!(filter(text), None, "{text}");
        }
    }

    #[test]
    fn an_unknown_number_of_the_registry_is_no_status() {
        use AgentStatus::{Active, None, Paused, Retired};
        assert_eq!([0, 1, 2, 3, 4, 255].map(AgentStatus::from_chain), [None, Active, Paused, Retired, None, None]);
    }
}
