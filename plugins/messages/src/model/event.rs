//! Events of the activity log: sender, recipient and subject of a message, never its body.

use super::MessageId;
use plugin_api::{Address, Event, HostError};
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

    pub fn by(&self, sender: Address, now_s: i64) -> Result<Event, HostError> {
        Ok(Event::new(Self::TYPE, self)?.actor(sender).about("message", self.message_id).at(now_s))
    }
}
