//! Copies of messages to the agents of their recipients: `POST <endpoint>/inbox`, best effort. An agent that does not answer
//! reads its inbox instead.
//!
//! A round begins a moment after each write, when that is committed; the job takes what is left, after a restart for instance.

use crate::{
    Messages,
    routes::render,
    store::outbox::{self, Waiting},
};
use futures_util::future::join_all;
use plugin_api::{Authors, Fetch, Gateway, HostError, Job, keep};
use std::{collections::BTreeMap, time::Duration};

/// A write is committed after this, unless the gateway is very busy.
const SOON: Duration = Duration::from_millis(200);
const INTERVAL: Duration = Duration::from_secs(10);
/// Agents that are called at the same time.
const AT_ONCE: u32 = 8;
/// Time for an agent to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A round begins nothing new after this; a run of the job may take a minute.
const ROUND_MAX_MS: i64 = 30_000;

pub fn inbox_url(endpoint: &str) -> String {
    format!("{}/inbox", endpoint.trim_end_matches('/'))
}

pub fn job() -> Job<Messages> {
    Job::every("forward_messages", INTERVAL, forward_messages)
}

/// Begins a round in the background, after the write that is going on.
pub fn begin_soon(gateway: &Gateway<Messages>) {
    let gateway = gateway.clone();
    let host = gateway.clone();
    host.spawn("forward_messages", async move {
        gateway.sleep(SOON).await;
        forward_messages(gateway).await
    });
}

async fn forward_messages(gateway: Gateway<Messages>) -> Result<(), HostError> {
    let begun_ms = gateway.now_ms();
    loop {
        let waiting = outbox::waiting(&gateway.db(), AT_ONCE).await?;
        if waiting.is_empty() || gateway.now_ms() - begun_ms > ROUND_MAX_MS {
            return Ok(());
        }
        let authors =
            gateway.authors(waiting.iter().flat_map(|one| [one.message.sender, one.message.recipient])).await?;
        let tx = gateway.begin();
        let taken = outbox::take(&tx, waiting).await?;
        tx.commit().await?;
        join_all(taken.into_iter().map(|one| forward(&gateway, one, &authors))).await;
    }
}

/// Whatever the agent answers, the message is in its owner's inbox.
async fn forward(gateway: &Gateway<Messages>, Waiting { message, url }: Waiting, authors: &Authors) {
    let (id, marker) = (message.id, &gateway.environment().brand.marker);
    let Ok(body) = keep(&render::message(message, authors)) else { return };
    let sent = Fetch::post(url, body)
        .header("content-type", "application/json")
        .header("user-agent", format!("{marker}-gateway/inbox"))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .cut_at(0)
        .send(gateway)
        .await;
    let outcome = match &sent {
        Ok(answer) if (200..300).contains(&answer.status) => "taken",
        Ok(_) => "refused",
        Err(_) => "failed",
    };
    gateway.count("messages_forwarded", &BTreeMap::from([("outcome", outcome)]), 1);
    if let Err(error) = sent {
        gateway.debug(&format!("message {id} was not forwarded: {}", error.message));
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
