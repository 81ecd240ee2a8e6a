//! The outbox: messages that are not forwarded yet. A gateway deletes the row before it forwards the message, so that a message
//! is forwarded at most once across all gateways. A message that could not be sent for want of a place comes back.

use crate::model::MessageId;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;
use url::Url;

#[derive(Debug, Deserialize)]
pub struct QueuedMessage {
    pub id: MessageId,
    pub sender: Address,
    pub recipient: Address,
    pub subject: String,
    pub body: String,
    pub created_at: i64,
    pub url: String,
    pub host: String,
    pub queued_at: i64,
}

/// Call it in the transaction that stores the message.
pub fn insert(tx: &Tx, message: MessageId, url: &str) -> Result<(), HostError> {
    tx.defer(sql(INSERT).bind((message, url, host_of(url), tx.now_s())))
}

const INSERT: &str = "INSERT INTO messages_outbox (message_id, url, host, created_at) VALUES ($1, $2, $3, $4)";

/// Puts a message back that was not sent.
pub fn restore(tx: &Tx, message: &QueuedMessage) -> Result<(), HostError> {
    let QueuedMessage { id, url, host, queued_at, .. } = message;
    tx.defer(sql(INSERT).bind(*id).bind(url).bind(host).bind(*queued_at))
}

/// The oldest first: of each host at most `per_host`, of these hosts none.
pub async fn waiting(
    db: &impl Query,
    busy_hosts: &[String],
    per_host: u32,
    limit: u32,
) -> Result<Vec<QueuedMessage>, HostError> {
    let numbered = sql("SELECT m.id, m.sender, m.recipient, m.subject, m.body, m.created_at, o.url, o.host, \
             o.created_at AS queued_at \
         FROM (SELECT message_id, url, host, created_at, row_number() OVER (PARTITION BY host ORDER BY message_id) AS nth \
             FROM messages_outbox WHERE host NOT IN ('-'");
    let waiting = busy_hosts.iter().fold(numbered, |statement, host| statement.push_bind(", {}", host));
    let waiting = waiting
        .push_bind(")) o JOIN messages_messages m ON m.id = o.message_id WHERE o.nth <= {}", per_host)
        .push_bind(" ORDER BY o.message_id LIMIT {}", limit);
    db.rows(waiting).await
}

/// The host of a URL; nothing for what is no URL with a host, which is never sent.
fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Deletes the rows of these messages; returns the messages whose row no other gateway had deleted.
pub async fn claim(tx: &Tx, messages: &[MessageId]) -> Result<Vec<MessageId>, HostError> {
    let delete = |id: &MessageId| sql("DELETE FROM messages_outbox WHERE message_id = $1").bind(*id);
    let outcomes = tx.batch(messages.iter().map(delete).collect()).await?;
    Ok(messages.iter().zip(outcomes).filter(|(_, outcome)| outcome.changes > 0).map(|(id, _)| *id).collect())
}

/// Number of waiting messages, and since when the oldest one waits (Unix seconds).
pub async fn backlog(db: &impl Query) -> Result<(i64, Option<i64>), HostError> {
    db.one(sql("SELECT row_count, (SELECT min(created_at) FROM messages_outbox) FROM messages_outbox_counts")).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart_without_port_and_path() {
        for (url, host) in [
            ("https://Agent.Example/inbox", "agent.example"),
            ("http://a.example:8080/x/inbox", "a.example"),
            ("http://[::1]:80/inbox", "[::1]"),
            ("http://[::1]/inbox", "[::1]"),
            ("http://user@b.example?x=/inbox", "b.example"),
            ("http://[/inbox", ""),
            ("https://BÜCHER.example/inbox", "xn--bcher-kva.example"),
            (":", ""),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
