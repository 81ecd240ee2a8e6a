//! The card that an agent serves at its endpoint: the agent's description of itself. Rule: it is untrusted; its size is
//! limited, and it never changes rows that are derived from the chain.

use plugin_api::{HostError, JsonSchema, Wei, render_json};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

/// A larger response is not accepted as a card.
pub const CARD_BYTES_MAX: u64 = 64 * 1024;
const CAPABILITIES_MAX: usize = 100;

/// The URL of the card of the agent with this endpoint.
pub fn card_url(endpoint: &str, marker: &str) -> String {
    format!("{}/.well-known/{marker}-agent.json", endpoint.trim_end_matches('/'))
}

/// A parsed card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The whole document, as received.
    pub text: String,
    pub description: Option<String>,
    pub capabilities: Vec<String>,
    pub model: Option<String>,
    /// An https URL of a picture.
    pub image: Option<String>,
    pub price_per_call: Option<Wei>,
}

impl Card {
    /// `None` unless it is a JSON object with the marker (`"service": 1`).
    pub fn parse(bytes: &[u8], marker: &str) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim();
        let members: Map<String, Value> = serde_json::from_str(text).ok()?;
        if members.get(marker) != Some(&Value::from(1)) {
            return None;
        }
        let member = |name: &str| members.get(name).and_then(Value::as_str).map(storable);
        let capabilities = members.get("capabilities").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            text: text.to_owned(),
            description: member("description"),
            capabilities: capabilities.filter_map(Value::as_str).map(storable).take(CAPABILITIES_MAX).collect(),
            model: member("model"),
            image: member("image").filter(|url| url.starts_with("https://") || url.starts_with("http://")),
            price_per_call: members.get("pricePerCall").and_then(|price| serde_json::from_value(price.clone()).ok()),
        })
    }
}

/// What an agent says of itself.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Declared<'r> {
    /// Declared in the card.
    pub description: Option<&'r str>,
    /// Declared in the card.
    pub capabilities: &'r [String],
    /// Declared in the card.
    pub model: Option<&'r str>,
    /// Declared in the card: what one call of the endpoint costs.
    pub price_per_call: Option<Wei>,
    /// The last good card of this endpoint, as the agent served it: nobody checked what it says.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub card: Option<&'r RawValue>,
    /// Unix milliseconds of the last probe that found a card.
    pub last_seen: Option<i64>,
}

impl Card {
    /// The JSON of the row's column `kept`, for responses.
    pub fn rendered(&self, seen_ms: i64) -> Result<String, HostError> {
        render_json(&Declared {
            description: self.description.as_deref(),
            capabilities: &self.capabilities,
            model: self.model.as_deref(),
            price_per_call: self.price_per_call,
            card: serde_json::from_str(&self.text).ok(),
            last_seen: Some(seen_ms),
        })
    }

    /// The same for an agent without a card.
    pub const NO_CARD_JSON: &str =
        r#"{"description":null,"capabilities":[],"model":null,"pricePerCall":null,"card":null,"lastSeen":null}"#;
}

/// Removes U+0000, which PostgreSQL cannot store.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(card: &Value) -> Option<Card> {
        Card::parse(card.to_string().as_bytes(), "service")
    }

    #[test]
    fn a_document_without_the_marker_is_not_a_card() {
        for body in [r#"{"service":2}"#, r#"{"service":"1"}"#, "{}", "[]", "1", "", "{\"service\":1", "<html>"] {
            assert_eq!(Card::parse(body.as_bytes(), "service"), None, "{body}");
        }
        assert_eq!(Card::parse(b"{\"service\":1,\"name\":\"\xff\"}", "service"), None);
        assert!(Card::parse(b"{\"other\":1}", "other").is_some());
        let deep = format!("{{\"service\":1,\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(Card::parse(deep.as_bytes(), "service"), None);
    }

    #[test]
    fn members_of_another_type_are_as_if_absent() {
        let card = parse(&json!({
            "service": 1, "description": 5, "capabilities": "a", "model": null, "image": "javascript:alert(1)",
            "pricePerCall": 1.5,
        }))
        .unwrap();
        assert_eq!(card, Card { text: card.text.clone(), ..Card::default() });
        let card = parse(&json!({ "service": 1, "capabilities": ["a", 7, "b"] })).unwrap();
        assert_eq!(card.capabilities, ["a", "b"]);
        let card = Card::parse(br#"{"service":1,"description":"a\u0000b"}"#, "service").unwrap();
        assert_eq!(card.description.as_deref(), Some("a\u{fffd}b"));
    }

    #[test]
    fn the_rendered_json_has_the_same_members_with_and_without_a_card() {
        assert_eq!(render_json(&Declared::default()).unwrap(), Card::NO_CARD_JSON);
        let text =
            r#"{ "service": 1, "description": "\"d\"", "capabilities": ["a"], "pricePerCall": "10", "x": 1.50 }"#;
        let kept = Card::parse(text.as_bytes(), "service").unwrap().rendered(5).unwrap();
        assert!(kept.contains(text), "the card stays as it came: {kept}");
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let card: Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            kept,
            json!({
                "description": "\"d\"", "capabilities": ["a"], "model": null, "pricePerCall": "10", "card": card,
                "lastSeen": 5,
            })
        );
    }

    #[test]
    fn the_card_lies_below_the_endpoint() {
        for endpoint in ["https://a.example/x", "https://a.example/x/"] {
            assert_eq!(card_url(endpoint, "service"), "https://a.example/x/.well-known/service-agent.json");
        }
    }
}
