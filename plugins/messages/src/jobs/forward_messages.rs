//! Forwards copies of messages to the agents of their recipients: `POST <endpoint>/inbox`, best effort. An agent that does not
//! respond finds the message in its inbox.
//!
//! A round starts shortly after each write; the job forwards the rest, for example after a restart.

use crate::{
    Messages,
    model::{MessageId, MessageView},
    store::outbox::{self, QueuedMessage},
};
use futures_util::future::join_all;
use plugin_api::{Authors, Fetch, HostError, Job, PluginContext, render_json};
use std::{collections::BTreeMap, time::Duration};

const INTERVAL: Duration = Duration::from_secs(10);
/// Messages that are sent within this time share a round.
const ROUND_DELAY: Duration = Duration::from_millis(200);
/// A round starts no new request after this; a run of the job may take a minute.
const ROUND_MAX_MS: i64 = 30_000;
const CONCURRENT_REQUESTS: u32 = 8;
/// Of one request.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;

pub fn job() -> Job<Messages> {
    Job::every("forward_messages", INTERVAL, forward_messages)
}

/// Starts a round in the background.
pub fn forward_soon(cx: &PluginContext<Messages>) {
    let task = cx.clone();
    cx.spawn("forward_messages", async move {
        task.sleep(ROUND_DELAY).await;
        forward_messages(task).await
    });
}

async fn forward_messages(cx: PluginContext<Messages>) -> Result<(), HostError> {
    let started_ms = cx.now_ms();
    loop {
        let mut waiting = outbox::waiting(&cx.db(), CONCURRENT_REQUESTS).await?;
        if waiting.is_empty() || cx.now_ms() - started_ms > ROUND_MAX_MS {
            return Ok(());
        }
        let authors = cx.authors(waiting.iter().flat_map(|message| [message.sender, message.recipient])).await?;
        let ids: Vec<MessageId> = waiting.iter().map(|message| message.id).collect();
        let claimed = cx.write(async move |tx| outbox::claim(tx, &ids).await).await?;
        waiting.retain(|message| claimed.contains(&message.id));
        join_all(waiting.into_iter().map(|message| forward(&cx, message, &authors))).await;
    }
}

/// The result is ignored: the message is in the owner's inbox in any case.
async fn forward(cx: &PluginContext<Messages>, message: QueuedMessage, authors: &Authors) {
    let QueuedMessage { id, sender, recipient, subject, body, created_at, url } = message;
    let (from, to) = (authors.get(sender).into(), authors.get(recipient).into());
    let Ok(copy) = render_json(&MessageView { id, from, to, subject, body, created_at }) else { return };
    let response = Fetch::post(url, copy)
        .header("content-type", "application/json")
        .header("user-agent", format!("{}-gateway/inbox", cx.environment().brand.marker))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .truncate_at(0)
        .send(cx)
        .await;
    let outcome = match &response {
        Ok(response) if (200..300).contains(&response.status) => "taken",
        Ok(_) => "refused",
        Err(_) => "failed",
    };
    cx.count("messages_forwarded", &BTreeMap::from([("outcome", outcome)]), 1);
    if let Err(error) = response {
        cx.debug(&format!("message {id} was not forwarded: {}", error.message));
    }
}
