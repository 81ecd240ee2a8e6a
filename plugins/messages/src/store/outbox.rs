//! The outbox: messages that are not forwarded yet. A gateway deletes the row before it forwards the message, so that a message
//! is forwarded at most once across all gateways.

use crate::model::MessageId;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct QueuedMessage {
    pub id: MessageId,
    pub sender: Address,
    pub recipient: Address,
    pub subject: String,
    pub body: String,
    pub created_at: i64,
    pub url: String,
}

/// Call it in the transaction that stores the message.
pub fn insert(tx: &Tx, message: MessageId, url: &str) -> Result<(), HostError> {
    let insert = sql("INSERT INTO messages_outbox (message_id, url, created_at) VALUES ($1, $2, $3)");
    tx.defer(insert.bind(message).bind(url).bind(tx.now_s()))
}

/// The oldest first.
pub async fn waiting(db: &impl Query, limit: u32) -> Result<Vec<QueuedMessage>, HostError> {
    db.rows(
        sql("SELECT m.id, m.sender, m.recipient, m.subject, m.body, m.created_at, o.url \
             FROM messages_outbox o JOIN messages_messages m ON m.id = o.message_id ORDER BY o.message_id LIMIT $1")
        .bind(limit),
    )
    .await
}

/// Deletes the rows of these messages; returns the messages whose row no other gateway had deleted.
pub async fn claim(tx: &Tx, messages: &[MessageId]) -> Result<Vec<MessageId>, HostError> {
    let delete = |id: &MessageId| sql("DELETE FROM messages_outbox WHERE message_id = $1").bind(*id);
    let outcomes = tx.batch(messages.iter().map(delete).collect()).await?;
    Ok(messages.iter().zip(outcomes).filter(|(_, outcome)| outcome.changes > 0).map(|(id, _)| *id).collect())
}

/// Number of waiting messages, and since when the oldest one waits (Unix seconds).
pub async fn backlog(db: &impl Query) -> Result<(i64, Option<i64>), HostError> {
    db.one(sql("SELECT count(*), min(created_at) FROM messages_outbox")).await
}
