//! Forwards copies of messages to the agents of their recipients: `POST <endpoint>/inbox`, best effort. An agent that does not
//! respond finds the message in its inbox.
//!
//! A round starts shortly after each write, when it is committed; the job forwards the rest, for example after a restart.

use crate::{
    Messages,
    routes::render,
    store::outbox::{self, QueuedMessage},
};
use futures_util::future::join_all;
use plugin_api::{Authors, Fetch, HostError, Job, PluginContext, render_json};
use std::{collections::BTreeMap, time::Duration};

/// A write is usually committed after this delay.
const COMMIT_DELAY: Duration = Duration::from_millis(200);
const INTERVAL: Duration = Duration::from_secs(10);
/// Concurrent requests.
const CONCURRENT_REQUESTS: u32 = 8;
/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A round starts no new request after this; a run of the job may take a minute.
const ROUND_MAX_MS: i64 = 30_000;

pub fn inbox_url(endpoint: &str) -> String {
    format!("{}/inbox", endpoint.trim_end_matches('/'))
}

pub fn job() -> Job<Messages> {
    Job::every("forward_messages", INTERVAL, forward_messages)
}

/// Starts a round in the background, after the current write.
pub fn forward_soon(cx: &PluginContext<Messages>) {
    let cx = cx.clone();
    let host = cx.clone();
    host.spawn("forward_messages", async move {
        cx.sleep(COMMIT_DELAY).await;
        forward_messages(cx).await
    });
}

async fn forward_messages(cx: PluginContext<Messages>) -> Result<(), HostError> {
    let started_ms = cx.now_ms();
    loop {
        let waiting = outbox::waiting(&cx.db(), CONCURRENT_REQUESTS).await?;
        if waiting.is_empty() || cx.now_ms() - started_ms > ROUND_MAX_MS {
            return Ok(());
        }
        let authors = cx.authors(waiting.iter().flat_map(|one| [one.message.sender, one.message.recipient])).await?;
        let tx = cx.begin();
        let claimed = outbox::claim(&tx, waiting).await?;
        tx.commit().await?;
        join_all(claimed.into_iter().map(|one| forward(&cx, one, &authors))).await;
    }
}

/// The result is ignored: the message is in the owner's inbox in any case.
async fn forward(cx: &PluginContext<Messages>, QueuedMessage { message, url }: QueuedMessage, authors: &Authors) {
    let (id, marker) = (message.id, &cx.environment().brand.marker);
    let Ok(body) = render_json(&render::message(message, authors)) else { return };
    let response = Fetch::post(url, body)
        .header("content-type", "application/json")
        .header("user-agent", format!("{marker}-gateway/inbox"))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .truncate_at(0)
        .send(cx)
        .await;
    let outcome = match &response {
        Ok(answer) if (200..300).contains(&answer.status) => "taken",
        Ok(_) => "refused",
        Err(_) => "failed",
    };
    cx.count("messages_forwarded", &BTreeMap::from([("outcome", outcome)]), 1);
    if let Err(error) = response {
        cx.debug(&format!("message {id} was not forwarded: {}", error.message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_is_below_the_endpoint() {
        for (endpoint, url) in [
            ("https://a.example", "https://a.example/inbox"),
            ("https://a.example/", "https://a.example/inbox"),
            ("http://a.example:8080/agents/7//", "http://a.example:8080/agents/7/inbox"),
        ] {
            assert_eq!(inbox_url(endpoint), url);
        }
    }
}
