//! The outbox: messages that are not forwarded yet. A gateway deletes the row before it forwards the message, so that a message
//! is forwarded at most once across all gateways.

use super::messages::MessageRow;
use crate::model::MessageId;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq)]
pub struct QueuedMessage {
    pub message: MessageRow,
    pub url: String,
}

/// Call it in the transaction that stores the message.
pub fn insert(tx: &Tx, message: MessageId, url: &str, now_s: i64) -> Result<(), HostError> {
    let insert = sql("INSERT INTO messages_outbox (message_id, url, created_at) VALUES ($1, $2, $3)");
    tx.defer(insert.bind(message).bind(url).bind(now_s))
}

type Columns = (MessageId, Address, Address, String, String, i64, String);

/// The oldest first.
pub async fn waiting(db: &impl Query, limit: u32) -> Result<Vec<QueuedMessage>, HostError> {
    let rows: Vec<Columns> = db
        .rows(
            sql("SELECT m.id, m.sender, m.recipient, m.subject, m.body, m.created_at, o.url \
                 FROM messages_outbox o JOIN messages_messages m ON m.id = o.message_id ORDER BY o.message_id LIMIT $1")
            .bind(limit),
        )
        .await?;
    let waiting = |(id, sender, recipient, subject, body, created_at, url)| QueuedMessage {
        message: MessageRow { id, sender, recipient, subject, body, created_at },
        url,
    };
    Ok(rows.into_iter().map(waiting).collect())
}

/// Deletes these rows; returns those that no other gateway had deleted.
pub async fn claim(tx: &Tx, waiting: Vec<QueuedMessage>) -> Result<Vec<QueuedMessage>, HostError> {
    let remove = |one: &QueuedMessage| sql("DELETE FROM messages_outbox WHERE message_id = $1").bind(one.message.id);
    let outcomes = tx.batch(waiting.iter().map(remove).collect()).await?;
    Ok(waiting.into_iter().zip(outcomes).filter(|(_, outcome)| outcome.changes > 0).map(|(one, _)| one).collect())
}

/// Number of waiting messages, and since when the oldest one waits (Unix seconds).
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Backlog {
    pub waiting: i64,
    pub oldest_s: Option<i64>,
}

pub async fn backlog(db: &impl Query) -> Result<Backlog, HostError> {
    db.one(sql("SELECT count(*) AS waiting, min(created_at) AS oldest_s FROM messages_outbox")).await
}
