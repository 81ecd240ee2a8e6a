//! The recipient of a message: an address, or the owner of an agent.

use super::AgentId;
use plugin_api::{Address, JsonSchema};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    Address(Address),
    /// The owner at the time when the message is sent.
    Agent(AgentId),
}

impl<'de> Deserialize<'de> for Recipient {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) if text.starts_with("0x") => text.parse().map(Self::Address).map_err(D::Error::custom),
            other => AgentId::deserialize(other)
                .map(Self::Agent)
                .map_err(|error| D::Error::custom(format!("`to` is an address or an agent's id: {error}"))),
        }
    }
}

impl JsonSchema for Recipient {
    fn schema_name() -> Cow<'static, str> {
        "Recipient".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An address, or the id of an agent: a number or its digits",
            "anyOf": [
                { "type": "string", "pattern": "^(0x[0-9a-fA-F]{40}|[0-9]{1,19})$" },
                { "type": "integer", "minimum": 1 },
            ],
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Option<Recipient> {
        serde_json::from_value(value).ok()
    }

    #[test]
    fn an_address_in_any_case_or_an_agent_in_two_forms() {
        let address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        let expected = Recipient::Address(address.parse().unwrap());
        for text in [address.to_owned(), address.to_lowercase()] {
            assert_eq!(read(json!(text)), Some(expected), "{text}");
        }
        for agent in [json!(7), json!("7")] {
            assert_eq!(read(agent), Some(Recipient::Agent(AgentId(7))));
        }
    }

    #[test]
    fn other_recipients_are_refused() {
        for value in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!(""),
            json!("0x"),
            json!("0x12"),
            json!("alice"),
            json!("7 "),
            json!(null),
            json!(true),
            json!([1]),
            json!({ "agentId": 1 }),
            json!("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
            json!("99999999999999999999"),
        ] {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }
}
