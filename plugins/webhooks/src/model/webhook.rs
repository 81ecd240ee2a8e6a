//! A webhook: the payload with its checks, and what its owner sees.
//!
//! The rule: no answer has a secret, only its first four characters.

use super::{DeliveryView, WebhookId, event::EVENTS};
use crate::{
    error::WebhookError,
    limits::{SECRET_CHARS_MAX, SECRET_CHARS_MIN},
};
use plugin_api::{Address, Author, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

const HINT_CHARS: usize = 4;

#[derive(Deserialize, JsonSchema)]
pub struct NewWebhook {
    /// http or https, of a public host, at most 512 characters.
    #[serde(default)]
    pub url: String,
    /// 16 to 128 characters. After `whsec_` it is base64 of 24 to 64 bytes, which are the key of `webhook-signature`.
    #[serde(default)]
    pub secret: String,
    /// Names of events, at least one.
    #[serde(default)]
    pub events: Vec<String>,
    /// True by default.
    #[serde(default)]
    #[schemars(with = "Option<bool>")]
    pub active: Option<Value>,
}

/// A payload that passed its checks.
pub struct WebhookDraft {
    pub url: String,
    pub secret: String,
    pub events: Vec<&'static str>,
    pub active: bool,
}

impl fmt::Debug for WebhookDraft {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, secret: _, events, active } = self;
        out.debug_struct("WebhookDraft").field("url", url).field("events", events).field("active", active).finish()
    }
}

impl NewWebhook {
    pub fn check(self) -> Result<WebhookDraft, WebhookError> {
        let Self { url, secret, events, active } = self;
        if !(SECRET_CHARS_MIN..=SECRET_CHARS_MAX).contains(&secret.encode_utf16().count()) {
            return Err(WebhookError::SecretLength);
        }
        let mut known = Vec::new();
        for (at, name) in events.iter().enumerate() {
            let event = EVENTS.into_iter().find(|event| event == name).ok_or(WebhookError::UnknownEvent(at))?;
            if !known.contains(&event) {
                known.push(event);
            }
        }
        if known.is_empty() {
            return Err(WebhookError::NoEvents);
        }
        let active = match active {
            None => true,
            Some(Value::Bool(active)) => active,
            Some(Value::String(text)) if text == "true" => true,
            Some(Value::String(text)) if text == "false" => false,
            Some(_) => return Err(WebhookError::Active),
        };
        Ok(WebhookDraft { url, secret, events: known, active })
    }
}

impl WebhookDraft {
    pub fn secret_hint(&self) -> String {
        self.secret.chars().take(HINT_CHARS).collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryCounts {
    pub pending: i64,
    pub ok: i64,
    pub failed: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    pub id: WebhookId,
    pub owner: Author,
    pub url: String,
    pub events: Vec<String>,
    pub active: bool,
    /// The first four characters of the secret.
    pub secret_hint: String,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds of the last change by its owner.
    pub updated_at: i64,
    /// Unix seconds when the gateway switched it off; null unless it did.
    pub disabled_at: Option<i64>,
    /// Why it did.
    pub disabled_reason: Option<String>,
    /// Unix seconds until which the secret of before signs, too.
    pub old_secret_until: Option<i64>,
    /// Of the deliveries that are kept.
    pub deliveries: DeliveryCounts,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnWebhooks {
    pub address: Address,
    pub items: Vec<WebhookView>,
    /// Every event that there is.
    pub events: Vec<&'static str>,
    /// Seconds from a failed attempt to the next one.
    pub retry_seconds: Vec<u64>,
    /// The latest ones, of all webhooks of the address.
    pub deliveries: Vec<DeliveryView>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedWebhook {
    pub deleted: bool,
    pub id: WebhookId,
}

/// The body of a call about one webhook.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct WebhookTarget {
    /// The webhook of the path; a signature without it is good for each of the signer's webhooks.
    #[serde(default)]
    #[schemars(with = "Option<i64>")]
    #[expect(dead_code, reason = "the gateway compares it with the path")]
    id: Option<serde::de::IgnoredAny>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft(change: impl FnOnce(&mut Value)) -> Result<WebhookDraft, WebhookError> {
        let mut payload = json!({ "url": "https://a.test", "secret": "0123456789abcdef", "events": ["job.requested"] });
        change(&mut payload);
        serde_json::from_value::<NewWebhook>(payload).unwrap().check()
    }

    fn refusal(member: &str, value: Value) -> Option<WebhookError> {
        draft(|payload| payload[member] = value).err()
    }

    #[test]
    fn a_draft_has_each_event_once_and_shows_no_secret() {
        let draft =
            draft(|payload| payload["events"] = json!(["dm.received", "job.requested", "dm.received"])).unwrap();
        assert_eq!(draft.events, ["dm.received", "job.requested"]);
        assert!(draft.active);
        assert_eq!(draft.secret_hint(), "0123");
        assert!(!format!("{draft:?}").contains("0123"), "{draft:?}");
    }

    #[test]
    fn active_may_be_a_text() {
        for (value, active) in
            [(json!(true), true), (json!("true"), true), (json!(false), false), (json!("false"), false)]
        {
            assert_eq!(draft(|payload| payload["active"] = value).unwrap().active, active);
        }
        assert!(draft(|payload| payload["active"] = json!(null)).unwrap().active);
        for value in [json!("yes"), json!(1), json!([])] {
            assert_eq!(refusal("active", value), Some(WebhookError::Active));
        }
    }

    #[test]
    fn bounds_of_members() {
        for secret in ["0".repeat(15), "0".repeat(129), String::new(), "\u{1f511}".repeat(65)] {
            assert_eq!(refusal("secret", json!(secret)), Some(WebhookError::SecretLength), "{secret}");
        }
        assert_eq!(refusal("secret", json!("\u{1f511}".repeat(64))), None, "128 UTF-16 units");
        assert_eq!(refusal("events", json!([])), Some(WebhookError::NoEvents));
        let events = json!(["job.requested", "job.resolved"]);
        assert_eq!(refusal("events", events), Some(WebhookError::UnknownEvent(1)));
    }
}
