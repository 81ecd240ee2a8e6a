//! Sending deliveries again: the payload and the answer.

use super::{DeliveryStatus, WebhookId};
use crate::error::WebhookError;
use plugin_api::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewReplay {
    /// The webhook of the path; a signature without it is good for each of the signer's webhooks.
    #[serde(default)]
    #[schemars(with = "Option<i64>")]
    #[expect(dead_code, reason = "the gateway compares it with the path")]
    id: Option<serde::de::IgnoredAny>,
    /// Unix seconds: deliveries of events from then on.
    #[schemars(with = "i64")]
    pub since: Value,
    /// `all` (the default), `ok` or `failed`.
    #[serde(default)]
    pub status: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayStatus {
    All,
    Only(DeliveryStatus),
}

/// A payload that passed its checks.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    pub since: i64,
    pub status: ReplayStatus,
}

impl NewReplay {
    pub fn check(&self) -> Result<Replay, WebhookError> {
        let since = self.since.as_i64().or_else(|| self.since.as_str()?.parse().ok());
        let since = since.filter(|since| *since >= 0).ok_or(WebhookError::Since)?;
        let status = match self.status.as_deref() {
            None | Some("all") => ReplayStatus::All,
            Some("ok") => ReplayStatus::Only(DeliveryStatus::Ok),
            Some("failed") => ReplayStatus::Only(DeliveryStatus::Failed),
            Some(_) => return Err(WebhookError::ReplayStatus),
        };
        Ok(Replay { since, status })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayAnswer {
    pub id: WebhookId,
    /// Deliveries that are sent again, the oldest first, with the `id` and `data` that they had.
    pub replayed: usize,
    /// How many more may be replayed today.
    pub remaining_today: i64,
    /// `since` for the rest, when there are more; null when these are all.
    pub next_since: Option<i64>,
}
