//! Events of the activity log: sender, recipient and subject of a message, never its body.

use super::MessageId;
use plugin_api::{Address, EventBuilder, HostError};
use serde::Serialize;

/// Data of `message.send`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSent<'a> {
    pub message_id: MessageId,
    pub to: Address,
    pub subject: &'a str,
}

impl MessageSent<'_> {
    pub const TYPE: &'static str = "message.send";

    pub fn by(&self, sender: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        Ok(EventBuilder::new(Self::TYPE, self).actor(sender).subject("message", self.message_id).at(now_s))
    }
}
