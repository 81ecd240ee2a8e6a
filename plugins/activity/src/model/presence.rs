//! Presence: an address is online for a while after each ping.

use crate::{error::ActivityError, limits::STATUS_CHARS_MAX};
use plugin_api::{JsonSchema, format, point::Author};
use serde::{Deserialize, Serialize};

/// How long an address is online after a ping.
pub const TTL_S: i64 = 300;
/// A stay ends after this long without a ping.
pub const IDLE_S: i64 = 86_400;

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
        let status = self.status.unwrap_or_default();
        format::trimmed(&status, 0..=STATUS_CHARS_MAX).ok_or(ActivityError::Status)
    }
}

// The members of the author stand beside the others, so the gateway cannot add them: it writes an author as one object.
/// An address that is here.
#[derive(Serialize, JsonSchema)]
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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pinged {
    #[serde(flatten)]
    pub presence: PresenceView,
    /// Seconds that a ping lasts.
    pub ttl: i64,
    /// Unix second until which the address is online.
    pub expires_at: i64,
}
