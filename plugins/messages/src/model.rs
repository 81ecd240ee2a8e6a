//! Types and rules of messages, without a database: recipients, checks, response types, events.

use crate::{
    error::MessageError,
    limits::{BODY_BYTES_MAX, SUBJECT_CHARS_MAX},
};
use plugin_api::{Address, AgentId, Author, Event, JsonSchema, format};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;
use std::borrow::Cow;

plugin_api::record_id! {
    /// A message.
    MessageId, "message";
}

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
#[derive(Debug)]
pub struct MessageDraft {
    pub to: Recipient,
    pub subject: String,
    pub body: String,
}

impl NewMessage {
    pub fn check(self) -> Result<MessageDraft, MessageError> {
        let Self { to, body, subject } = self;
        let subject = subject.unwrap_or_default();
        let subject = format::trimmed(&subject, 0..=SUBJECT_CHARS_MAX).ok_or(MessageError::Subject)?;
        let too_large = |bytes| MessageError::BodyTooLarge { bytes };
        format::not_blank(&body, BODY_BYTES_MAX, MessageError::BlankBody, too_large)?;
        Ok(MessageDraft { to, subject, body })
    }
}

#[derive(Clone, Copy, Debug)]
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

// Row and response are one struct.
/// A message, as its two sides see it and as it is forwarded.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    pub from: Author,
    pub to: Author,
    /// Empty when none was given.
    pub subject: String,
    /// As it was sent.
    pub body: String,
    /// Unix seconds.
    pub created_at: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Inbox {
    /// Whose inbox it is.
    pub address: Address,
    /// What the address sent and what it got, the newest first.
    pub items: Vec<MessageView>,
}

/// Public members of a new message: never its body.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("message.send", subject = "message", id = message_id)]
pub struct MessageSent<'a> {
    pub message_id: MessageId,
    pub to: Address,
    pub subject: &'a str,
}
