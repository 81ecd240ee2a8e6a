//! Messages: inserts and reads.

use crate::model::MessageId;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct MessageRow {
    pub id: MessageId,
    pub sender: Address,
    pub recipient: Address,
    pub subject: String,
    pub body: String,
    pub created_at: i64,
}

pub async fn insert(
    tx: &Tx,
    sender: Address,
    recipient: Address,
    (subject, body): (String, String),
    now_s: i64,
) -> Result<MessageRow, HostError> {
    let insert = sql("INSERT INTO messages_messages (sender, recipient, subject, body, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id")
    .bind(sender)
    .bind(recipient)
    .bind(&subject)
    .bind(&body)
    .bind(now_s);
    let id = tx.one(insert).await?;
    Ok(MessageRow { id, sender, recipient, subject, body, created_at: now_s })
}

/// Messages that the address sent or received, newest first. Each side walks its own index and stops at the limit.
pub async fn of(db: &impl Query, address: Address, limit: u32) -> Result<Vec<MessageRow>, HostError> {
    db.rows(
        sql("SELECT id, sender, recipient, subject, body, created_at FROM messages_messages WHERE id IN (\
             SELECT id FROM (SELECT id FROM messages_messages WHERE sender = $1 ORDER BY id DESC LIMIT $2) AS sent \
             UNION SELECT id FROM (SELECT id FROM messages_messages WHERE recipient = $1 ORDER BY id DESC LIMIT $2) AS got) \
             ORDER BY id DESC LIMIT $2")
        .bind(address)
        .bind(limit),
    )
    .await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM messages_messages")).await
}
