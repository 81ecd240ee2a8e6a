//! Messages: inserts and reads.

use crate::model::{MessageDraft, MessageView};
use plugin_api::{Address, HostError, List, Query, Tx, sql};

/// All messages, the newest first. Rows decode as [`MessageView`]s.
const MESSAGES: List =
    List::new("messages_messages", r#"id, sender AS "from", recipient AS "to", subject, body, created_at"#)
        .order_by("id DESC");

/// The number of all messages.
pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT row_count FROM messages_messages_counts")).await
}

pub async fn insert(tx: &Tx, from: Address, to: Address, draft: &MessageDraft) -> Result<MessageView, HostError> {
    let (MessageDraft { subject, body, .. }, created_at) = (draft, tx.now_s());
    let insert = sql("INSERT INTO messages_messages (sender, recipient, subject, body, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id")
    .bind((from, to, subject, body, created_at));
    let (id, from, to) = (tx.one(insert).await?, from.into(), to.into());
    Ok(MessageView { id, from, to, subject: subject.clone(), body: body.clone(), created_at })
}

/// Messages that the address sent or received, newest first. Each side walks its own index and stops at the limit.
pub async fn inbox(db: &impl Query, address: Address, limit: u32) -> Result<Vec<MessageView>, HostError> {
    let sent_or_received = sql(
        "SELECT id FROM (SELECT id FROM messages_messages WHERE sender = $1 ORDER BY id DESC LIMIT $2) AS sent \
         UNION SELECT id FROM (SELECT id FROM messages_messages WHERE recipient = $1 ORDER BY id DESC LIMIT $2) AS received",
    );
    MESSAGES.hits("id", sent_or_received.bind((address, limit))).first(limit).rows(db).await
}
