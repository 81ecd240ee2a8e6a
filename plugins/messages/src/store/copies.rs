//! The durable queue of copies for agents: the URL is the key, so that an agent gets its copies in order and one at a time, and its
//! host is the group. A task is stored with its message.

use crate::{
    Messages,
    model::{MessageId, MessageView},
};
use plugin_api::{
    HostError, Query, Tx,
    queue::{NewTask, Queue, QueueSettings},
    sql,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use url::Url;

/// A message, and where its copy goes.
#[derive(Debug, Serialize, Deserialize)]
pub struct CopyTask {
    pub id: MessageId,
    pub url: String,
}

pub const COPIES: Queue<CopyTask> = Queue::new("messages_queue");

/// More attempts than a copy can have that waits for a place: see [`crate::jobs::forward_message`].
const ATTEMPTS_MAX: usize = 5000;

/// Copies that are sent at a time, by one gateway.
const CONCURRENCY: u32 = 16;

/// Copies that are on their way to one host, of all gateways: slow agents of one party hold up nobody else's messages.
const CONCURRENCY_PER_HOST: u32 = 2;

/// Of a key and of a group, in a queue.
const NAME_BYTES_MAX: usize = 512;

pub fn settings(_: &Messages) -> QueueSettings {
    QueueSettings {
        backoff: vec![Duration::from_secs(60); ATTEMPTS_MAX],
        concurrency: CONCURRENCY,
        concurrency_per_group: CONCURRENCY_PER_HOST,
        ..QueueSettings::default()
    }
}

/// Call it in the transaction that stores the message.
pub async fn push(tx: &Tx, message: MessageId, url: &str) -> Result<(), HostError> {
    let task = CopyTask { id: message, url: url.to_owned() };
    let host = host_of(url);
    let task = NewTask::new(within(url, NAME_BYTES_MAX), &task).group(within(&host, NAME_BYTES_MAX));
    COPIES.push(tx, &task).await.map(drop)
}

/// The message as its two sides see it, without their names.
pub async fn find(db: &impl Query, message: MessageId) -> Result<Option<MessageView>, HostError> {
    let select = r#"SELECT id, sender AS "from", recipient AS "to", subject, body, created_at FROM messages_messages WHERE id = $1"#;
    db.row(sql(select).bind(message)).await
}

/// As much of the text. URLs that begin alike then share their turns.
fn within(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}

/// The host of a URL; nothing for what is no URL with a host, which is never sent.
fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Number of copies that are not sent, and since when the oldest one waits (Unix milliseconds).
pub async fn backlog(db: &impl Query) -> Result<(i64, Option<i64>), HostError> {
    db.one(sql("SELECT count(*), min(pushed_ms) FROM messages_queue")).await
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
