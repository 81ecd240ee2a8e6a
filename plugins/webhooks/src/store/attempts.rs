//! One attempt of a delivery: what it needs, and what is written when it is over.
//!
//! The rule: the outcome is written in the transaction that ends the task of the queue, so under the task's lease only.

use super::{endpoints, fanout::RetractedDelivery};
use crate::model::{Attempt, DeliveryId, DeliveryStatus, Health, WebhookId};
use plugin_api::{Address, HostError, Query, Sql, Tx, sql};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A delivery with its webhook.
#[derive(Debug, Deserialize)]
pub struct DeliveryRow {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub event: String,
    pub event_id: String,
    pub status: DeliveryStatus,
    #[serde(deserialize_with = "plugin_api::json_text")]
    pub data: Box<RawValue>,
    /// Whether its event is in the log no more.
    pub is_retracted: i64,
    pub owner: Address,
    pub url: String,
    pub active: i64,
    pub old_secret_until: Option<i64>,
    pub sealed_secret: Vec<u8>,
    pub sealed_old_secret: Option<Vec<u8>>,
    failures: i64,
    last_success_at: Option<i64>,
}

/// A busy endpoint's row would change with each delivery: a success is noted once in so many seconds.
const SUCCESS_NOTED_S: i64 = 60;

impl DeliveryRow {
    /// Whether a success now changes what is noted of the endpoint. Nobody else calls it meanwhile: an endpoint has one lease.
    pub fn is_success_news(&self, now_s: i64) -> bool {
        self.failures > 0 || self.last_success_at.is_none_or(|noted_at| noted_at <= now_s - SUCCESS_NOTED_S)
    }
}

/// `None` when delivery or webhook was deleted.
pub async fn find(db: &impl Query, id: DeliveryId) -> Result<Option<DeliveryRow>, HostError> {
    let select = sql("SELECT d.id, d.webhook_id, d.event, d.event_id, d.status, d.data, \
         CASE WHEN d.activity_id IS NULL OR EXISTS (SELECT 1 FROM host_activity_v1 a WHERE a.id = d.activity_id) \
         THEN 0 ELSE 1 END AS is_retracted, \
         e.owner, e.url, e.active, e.old_secret_until, e.sealed_secret, e.sealed_old_secret, e.failures, e.last_success_at \
         FROM webhooks_deliveries d JOIN webhooks_endpoints e ON e.id = d.webhook_id WHERE d.id = $1");
    db.row(select.bind(id)).await
}

/// What the outcome of an attempt that failed depends on, read in the transaction that writes it.
#[derive(Debug, Deserialize)]
pub struct AttemptState {
    pub status: DeliveryStatus,
    pub attempts: u32,
    heard_before: i64,
    pub retracted_by: Option<i64>,
    pub activity_id: Option<i64>,
    healthy_at: i64,
    failures: i64,
    failure_days: i64,
    last_failure_day: i64,
}

impl AttemptState {
    pub fn health(&self) -> Health {
        Health {
            healthy_at: self.healthy_at,
            failures: self.failures,
            failure_days: self.failure_days,
            last_failure_day: self.last_failure_day,
        }
    }

    /// The delivery as one of an event that was retracted while it was sent.
    pub fn heard(&self, row: &DeliveryRow) -> Option<(i64, RetractedDelivery)> {
        let heard = RetractedDelivery {
            id: row.id,
            webhook_id: row.webhook_id,
            owner: row.owner,
            event: row.event.clone(),
            event_id: row.event_id.clone(),
            activity_id: self.activity_id?,
            status: self.status.name().to_owned(),
            attempts: self.attempts.into(),
            heard_before: self.heard_before,
        };
        Some((self.retracted_by?, heard))
    }
}

pub async fn state(tx: &Tx, id: DeliveryId) -> Result<Option<AttemptState>, HostError> {
    let select = sql("SELECT d.status, d.attempts, d.heard_before, d.retracted_by, d.activity_id, \
         CASE WHEN e.last_success_at > e.active_since THEN e.last_success_at ELSE e.active_since END AS healthy_at, \
         e.failures, e.failure_days, e.last_failure_day \
         FROM webhooks_deliveries d JOIN webhooks_endpoints e ON e.id = d.webhook_id WHERE d.id = $1");
    tx.row(select.bind(id)).await
}

/// An attempt that succeeded. Changes no row when the delivery was ended while it was sent.
pub fn record_success(id: DeliveryId, status: Option<u16>, now_s: i64) -> Sql {
    sql("UPDATE webhooks_deliveries SET attempts = attempts + 1, last_status = $2, last_error = NULL, status = 'ok', \
         next_at = $3, finished_at = $3, replayed = 0 WHERE id = $1 AND status = 'pending'")
    .bind((id, status, now_s))
}

/// An attempt that failed, after which the delivery has this status.
pub fn record_failure(id: DeliveryId, attempt: &Attempt, status: DeliveryStatus, next_at: i64, now_s: i64) -> Sql {
    sql("UPDATE webhooks_deliveries SET attempts = attempts + 1, last_status = $2, last_error = $3, status = $4, next_at = $5, \
         finished_at = $6, replayed = CASE WHEN $4 = 'pending' THEN replayed ELSE 0 END WHERE id = $1")
    .bind((id, attempt.status, attempt.error.clone(), status, next_at))
    .bind((status != DeliveryStatus::Pending).then_some(now_s))
}

/// An attempt that was made although the delivery is over: the number only.
pub fn count(id: DeliveryId, attempt: &Attempt) -> Sql {
    sql("UPDATE webhooks_deliveries SET attempts = attempts + 1, last_status = $2 WHERE id = $1")
        .bind((id, attempt.status))
}

/// Nothing was sent: the next attempt is later.
pub fn postpone(id: DeliveryId, reason: Option<&str>, next_at: i64) -> Sql {
    sql("UPDATE webhooks_deliveries SET last_error = $2, next_at = $3 WHERE id = $1 AND status = 'pending'")
        .bind((id, reason, next_at))
}

/// Ends a delivery without an attempt.
pub fn withhold(id: DeliveryId, reason: &str, now_s: i64) -> Sql {
    sql("UPDATE webhooks_deliveries SET status = 'failed', last_error = $2, finished_at = $3, replayed = 0 \
         WHERE id = $1 AND status = 'pending'")
    .bind((id, reason, now_s))
}

/// Switches a webhook off, and ends what waits for it.
pub fn disable(tx: &Tx, id: WebhookId, reason: &str) -> Result<(), HostError> {
    tx.defer(endpoints::disable(id, reason, tx.now_s()))?;
    let ended = "the webhook was switched off";
    tx.defer(super::deliveries::give_up(id, ended, tx.now_s(), false))
}
