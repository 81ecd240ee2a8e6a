//! Presence: an address is online for a while after each ping.

use crate::error::ActivityError;
use plugin_api::{JsonSchema, format, point::Author};
use serde::{Deserialize, Serialize};

/// How long an address is online after a ping.
pub const TTL_S: i64 = 300;
/// A stay ends after this long without a ping.
pub const IDLE_S: i64 = 86_400;
pub const STATUS_CHARS_MAX: usize = 140;

/// The earliest ping of an address that is online at `now_s`.
pub fn online_since(now_s: i64) -> i64 {
    now_s - TTL_S
}

/// Payload of `presence.ping`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewPing {
    /// What the address is doing, at most 140 characters (UTF-16 units) after trimming.
    #[serde(default)]
    status: Option<String>,
}

impl NewPing {
    /// Returns the status; empty when there is none.
    pub fn check(self) -> Result<String, ActivityError> {
        let status = self.status.as_deref().unwrap_or_default().trim();
        if format::utf16_len(status) > STATUS_CHARS_MAX {
            return Err(ActivityError::Status);
        }
        Ok(status.to_owned())
    }
}

/// An address that is here.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresenceView {
    #[serde(flatten)]
    pub author: Author,
    /// Empty when it said nothing.
    pub status: String,
    /// Unix seconds.
    pub last_ping: i64,
    /// First ping of this stay, unix seconds.
    pub since: i64,
}

/// What a ping answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pinged {
    #[serde(flatten)]
    pub presence: PresenceView,
    /// Seconds that a ping lasts.
    pub ttl: i64,
    /// Unix second until which the address is online.
    pub expires_at: i64,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::Address;
    use serde_json::{Value, json};

    fn status(payload: Value) -> Result<String, ActivityError> {
        serde_json::from_value::<NewPing>(payload).unwrap().check()
    }

    #[test]
    fn a_status_may_be_left_out() {
        for payload in [json!({}), json!({ "status": null }), json!({ "status": "  " })] {
            assert_eq!(status(payload).unwrap(), "");
        }
        assert_eq!(status(json!({ "status": " at work " })).unwrap(), "at work");
    }

    #[test]
    fn a_status_has_at_most_140_utf16_units() {
        // Characters of one, two and three bytes, and one of four bytes that is two UTF-16 units.
        for (character, fits) in [("a", 140), ("é", 140), ("€", 140), ("😀", 70)] {
            let text = character.repeat(fits);
            assert_eq!(status(json!({ "status": text })), Ok(text.clone()), "{character} at the limit");
            assert_eq!(status(json!({ "status": format!("{text}a") })), Err(ActivityError::Status), "{character} over");
        }
    }

    #[test]
    fn a_ping_answers_one_flat_record() {
        let author = Author { address: Address::ZERO, name: None, agent_id: None };
        let presence = PresenceView { author, status: String::new(), last_ping: 10, since: 5 };
        assert_eq!(
            serde_json::to_value(Pinged { presence, ttl: TTL_S, expires_at: 10 + TTL_S }).unwrap(),
            json!({
                "address": Address::ZERO, "name": null, "agentId": null,
                "status": "", "lastPing": 10, "since": 5, "ttl": 300, "expiresAt": 310
            })
        );
    }
}
