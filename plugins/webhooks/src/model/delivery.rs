//! A delivery: what an owner sees of it, and the body that is sent.

use super::WebhookId;
use plugin_api::{JsonSchema, handles::Bind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

plugin_api::record_id!(
    /// A delivery, by its id.
    DeliveryId,
    "delivery"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    Pending,
    Ok,
    Failed,
}

/// Row and response.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase"))]
#[schemars(rename = "WebhookDelivery", rename_all = "camelCase")]
pub struct DeliveryView {
    /// The header `webhook-id` is `whd_` and this number.
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub event: String,
    pub status: DeliveryStatus,
    pub attempts: i64,
    /// Unix seconds of the next attempt; of a finished delivery those of the last one.
    pub next_at: i64,
    /// HTTP status of the last attempt, if it got one.
    pub last_status: Option<i64>,
    pub last_error: Option<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds of the answer with a status of 2xx.
    pub delivered_at: Option<i64>,
}

/// What an endpoint gets. `id` and `data` are the same in every attempt, `ts` is the attempt's.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryBody<'a> {
    pub id: &'a str,
    pub event: &'a str,
    /// Unix seconds.
    pub ts: i64,
    pub webhook_id: WebhookId,
    pub data: &'a RawValue,
}
