//! Deliveries: rows that owners see, and the end of those that are not sent.

use crate::model::{DeliveryCounts, DeliveryId, DeliveryStatus, DeliveryView, PING, WebhookId};
use plugin_api::{Address, HostError, Query, Sql, Tx, sql};
use std::collections::BTreeMap;

const VIEW: &str = "SELECT id, webhook_id, event, status, attempts, next_at, last_status, last_error, created_at, \
    CASE WHEN status = 'ok' THEN finished_at END AS delivered_at FROM webhooks_deliveries";

/// The latest ones of an owner.
pub async fn latest(db: &impl Query, owner: Address, limit: i64) -> Result<Vec<DeliveryView>, HostError> {
    let select = format!("{VIEW} WHERE owner = $1 ORDER BY created_at DESC, id DESC LIMIT $2");
    db.rows(sql(select).bind((owner, limit))).await
}

pub async fn view(db: &impl Query, id: DeliveryId) -> Result<Option<DeliveryView>, HostError> {
    db.row(sql(format!("{VIEW} WHERE id = $1")).bind(id)).await
}

/// By webhook.
pub async fn counts(db: &impl Query, webhooks: &[WebhookId]) -> Result<BTreeMap<WebhookId, DeliveryCounts>, HostError> {
    let select = sql("SELECT webhook_id, status, count(*) FROM webhooks_deliveries WHERE webhook_id IN (0");
    let select = webhooks.iter().fold(select, |select, id| select.push_bind(", {}", *id));
    let mut counts: BTreeMap<WebhookId, DeliveryCounts> = BTreeMap::new();
    for (webhook, status, count) in
        db.rows::<(WebhookId, DeliveryStatus, i64)>(select.push(") GROUP BY webhook_id, status")).await?
    {
        let counts = counts.entry(webhook).or_default();
        match status {
            DeliveryStatus::Pending => counts.pending = count,
            DeliveryStatus::Ok => counts.ok = count,
            DeliveryStatus::Failed => counts.failed = count,
        }
    }
    Ok(counts)
}

/// A test: no event of the log.
pub async fn insert_ping(
    tx: &Tx,
    webhook: WebhookId,
    owner: Address,
    event_id: &str,
    data: &str,
) -> Result<DeliveryId, HostError> {
    let insert =
        sql("INSERT INTO webhooks_deliveries (webhook_id, owner, event, event_id, part, status, attempts, next_at, \
         created_at, replayed, data) VALUES ($1, $2, $3, $4, 0, 'pending', 0, $5, $5, 0, $6) RETURNING id");
    tx.one(insert.bind((webhook, owner, PING, event_id, tx.now_s(), data))).await
}

/// Ends every pending delivery of a webhook, all but tests where `with_pings` is false.
pub fn give_up(webhook: WebhookId, reason: &str, now_s: i64, with_pings: bool) -> Sql {
    let update =
        sql("UPDATE webhooks_deliveries SET status = 'failed', last_error = $2, finished_at = $3, replayed = 0 \
         WHERE webhook_id = $1 AND status = 'pending'")
        .bind((webhook, reason, now_s));
    if with_pings { update } else { update.push_bind(" AND event <> {}", PING) }
}

/// The first finished rows that are older.
pub fn delete_finished_before(before_s: i64, limit: u32) -> Sql {
    sql("DELETE FROM webhooks_deliveries WHERE id IN (SELECT id FROM webhooks_deliveries \
         WHERE status IN ('ok', 'failed') AND finished_at < $1 LIMIT $2)")
    .bind((before_s, limit))
}

#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub struct Totals {
    pub pending: i64,
    pub failed: i64,
}

/// How many wait, each with a task, and how many failed since then.
pub async fn totals(db: &impl Query, failed_since_s: i64) -> Result<Totals, HostError> {
    let select = sql("SELECT (SELECT count(*) FROM webhooks_queue) AS pending, \
         (SELECT count(*) FROM webhooks_deliveries WHERE status = 'failed' AND finished_at >= $1) AS failed");
    db.one(select.bind(failed_since_s)).await
}
