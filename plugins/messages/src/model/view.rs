//! Response types.

use super::MessageId;
use plugin_api::{Address, JsonSchema, point::Author};
use serde::Serialize;

/// A message, as its two sides see it and as it is forwarded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Inbox {
    /// Whose inbox it is.
    pub address: Address,
    /// What the address sent and what it got, the newest first.
    pub items: Vec<MessageView>,
}
