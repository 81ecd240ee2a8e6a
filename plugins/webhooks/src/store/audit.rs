//! Deliveries of an owner for audit exports, by the time when they were made.

use crate::model::{DeliveryId, DeliveryStatus, WebhookId};
use plugin_api::{HostError, Query, point::AuditInput, sql};
use serde::Deserialize;

/// Kind of the lines.
pub const KIND: &str = "webhook";

#[derive(Deserialize)]
pub struct AuditedDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    /// `None` when the webhook was deleted.
    pub url: Option<String>,
    pub event: String,
    pub status: DeliveryStatus,
    pub attempts: i64,
    pub last_status: Option<i64>,
    pub created_at: i64,
    pub delivered_at: Option<i64>,
}

/// As many as an export has, and one more, which says that there are others.
pub async fn deliveries(db: &impl Query, input: &AuditInput) -> Result<Vec<AuditedDelivery>, HostError> {
    if input.is_by_block() {
        return Ok(Vec::new());
    }
    let (ts, id) = input.start(KIND);
    let select = sql("SELECT d.id, d.webhook_id, e.url, d.event, d.status, d.attempts, d.last_status, d.created_at, \
         CASE WHEN d.status = 'ok' THEN d.finished_at END AS delivered_at \
         FROM webhooks_deliveries d LEFT JOIN webhooks_endpoints e ON e.id = d.webhook_id \
         WHERE d.owner = $1 AND d.created_at >= $2 AND d.created_at <= $3 AND (d.created_at > $2 OR d.id > $4) \
         ORDER BY d.created_at, d.id LIMIT $5");
    let rows = input.limit.saturating_add(1);
    db.rows(select.bind((input.owner, ts, input.end_s(), id.parse().unwrap_or(0_i64), rows))).await
}
