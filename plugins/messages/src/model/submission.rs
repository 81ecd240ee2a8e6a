//! Request payloads, and their checked forms.

use super::Recipient;
use crate::error::MessageError;
use plugin_api::{JsonSchema, format};
use serde::Deserialize;

pub const SUBJECT_CHARS_MAX: usize = 200;
pub const BODY_BYTES_MAX: usize = 16_384;

/// Payload of `message.send`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewMessage {
    /// An address, or an agent's id: the message goes to its owner.
    to: Recipient,
    /// Not blank, at most 16,384 bytes.
    body: String,
    /// At most 200 characters (UTF-16 units) after trimming. It is public; the body is not.
    #[serde(default)]
    subject: Option<String>,
}

/// A checked message; whether its recipient exists is checked separately.
#[derive(Debug, PartialEq, Eq)]
pub struct Draft {
    pub to: Recipient,
    pub subject: String,
    pub body: String,
}

impl NewMessage {
    pub fn check(self) -> Result<Draft, MessageError> {
        let Self { to, body, subject } = self;
        let subject = subject.as_deref().unwrap_or_default().trim().to_owned();
        if format::utf16_len(&subject) > SUBJECT_CHARS_MAX {
            return Err(MessageError::Subject);
        }
        if body.trim().is_empty() {
            return Err(MessageError::BlankBody);
        }
        if body.len() > BODY_BYTES_MAX {
            return Err(MessageError::BodyTooLarge { bytes: body.len() });
        }
        Ok(Draft { to, subject, body })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(payload: Value) -> Result<Draft, MessageError> {
        serde_json::from_value::<NewMessage>(payload).unwrap().check()
    }

    #[test]
    fn the_subject_is_trimmed_and_the_body_is_not() {
        let draft = check(json!({ "to": 1, "body": " b\n", "subject": " s " })).unwrap();
        assert_eq!((draft.subject.as_str(), draft.body.as_str()), ("s", " b\n"));
        for payload in [json!({ "to": 1, "body": "b" }), json!({ "to": 1, "body": "b", "subject": null })] {
            assert_eq!(check(payload).unwrap().subject, "");
        }
    }

    #[test]
    fn limits_count_units_of_the_subject_and_bytes_of_the_body() {
        for (character, units) in [("a", 1), ("é", 1), ("€", 1), ("😀", 2)] {
            let subject = character.repeat(SUBJECT_CHARS_MAX / units);
            assert!(check(json!({ "to": 1, "body": "b", "subject": subject })).is_ok(), "{character}");
            let refused = check(json!({ "to": 1, "body": "b", "subject": format!("{subject}a") }));
            assert_eq!(refused, Err(MessageError::Subject), "{character}");
            let fits = character.repeat(BODY_BYTES_MAX / character.len());
            let body = format!("{fits}{}", "a".repeat(BODY_BYTES_MAX - fits.len()));
            assert!(check(json!({ "to": 1, "body": body })).is_ok(), "{character}");
            let refused = check(json!({ "to": 1, "body": format!("{body}a") }));
            assert_eq!(refused, Err(MessageError::BodyTooLarge { bytes: BODY_BYTES_MAX + 1 }), "{character}");
        }
    }

    #[test]
    fn a_blank_body_is_refused() {
        for body in ["", " \n", "\u{a0}\u{3000}"] {
            assert_eq!(check(json!({ "to": 1, "body": body })), Err(MessageError::BlankBody), "{body:?}");
        }
    }
}
