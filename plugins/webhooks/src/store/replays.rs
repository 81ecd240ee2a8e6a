//! Deliveries that are sent again: the same rows, with the id and the data that they had.

use super::fanout::QueuedDelivery;
use crate::model::{PING, Replay, ReplayStatus, WebhookId};
use plugin_api::{HostError, Query, Sql, Tx, sql};

/// Rows that one statement changes.
const IDS_MAX: usize = 500;

/// Whether a replay of before still has something to send.
pub async fn is_running(db: &impl Query, webhook: WebhookId) -> Result<bool, HostError> {
    let select =
        sql("SELECT count(*) FROM webhooks_deliveries WHERE webhook_id = $1 AND status = 'pending' AND replayed = 1");
    let running: i64 = db.one(select.bind(webhook)).await?;
    Ok(running > 0)
}

/// The finished deliveries that a replay asks for, the oldest first, each with its time: one more than the limit, if there is.
pub async fn select(
    db: &impl Query,
    webhook: WebhookId,
    replay: &Replay,
    limit: i64,
) -> Result<Vec<(QueuedDelivery, i64)>, HostError> {
    let select = sql("SELECT id, webhook_id, owner, created_at FROM webhooks_deliveries \
         WHERE webhook_id = $1 AND created_at >= $2 AND retracted_by IS NULL AND event <> $3 AND status ")
    .bind((webhook, replay.since, PING));
    let select = match replay.status {
        ReplayStatus::All => select.push("IN ('ok', 'failed')"),
        ReplayStatus::Only(status) => select.push_bind("= {}", status),
    };
    let rows: Vec<(crate::model::DeliveryId, WebhookId, plugin_api::Address, i64)> =
        db.rows(select.push_bind(" ORDER BY id LIMIT {}", limit + 1)).await?;
    Ok(rows.into_iter().map(|(id, webhook_id, owner, at)| (QueuedDelivery { id, webhook_id, owner }, at)).collect())
}

/// Makes them pending again.
pub async fn restart(tx: &Tx, deliveries: &[QueuedDelivery]) -> Result<(), HostError> {
    for deliveries in deliveries.chunks(IDS_MAX) {
        let update =
            sql("UPDATE webhooks_deliveries SET heard_before = CASE WHEN status = 'ok' OR attempts > 0 THEN 1 ELSE heard_before END, \
             status = 'pending', attempts = 0, next_at = $1, finished_at = NULL, last_error = NULL, last_status = NULL, replayed = 1 WHERE id IN (0")
            .bind(tx.now_s());
        let update: Sql = deliveries.iter().fold(update, |update, delivery| update.push_bind(", {}", delivery.id));
        tx.execute(update.push(")")).await?;
    }
    Ok(())
}
