//! Forwards copies of messages to the agents of their recipients: `POST <endpoint>/inbox`, best effort. An agent that does not
//! respond finds the message in its inbox.
//!
//! A round starts shortly after each write; the job forwards the rest, for example after a restart.

use super::host_shares::{HostShare, REQUESTS_PER_HOST};
use crate::{
    Messages,
    model::{MessageId, MessageView},
    store::outbox::{self, QueuedMessage},
};
use futures_util::future::join_all;
use plugin_api::{
    Fetch, HostError, Job, PluginContext,
    handles::{Authors, FetchError},
    render_json,
};
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
        let shares = &cx.plugin().forwarding;
        let waiting = outbox::waiting(&cx.db(), &shares.busy(), REQUESTS_PER_HOST, CONCURRENT_REQUESTS).await?;
        let reserve = |message: QueuedMessage| Some((shares.acquire(&message.host)?, message));
        let mut waiting: Vec<(HostShare, QueuedMessage)> = waiting.into_iter().filter_map(reserve).collect();
        // A round of a host that has its share continues with what waits for that host.
        if waiting.is_empty() || cx.now_ms() - started_ms > ROUND_MAX_MS {
            return Ok(());
        }
        let authors = cx.authors(waiting.iter().flat_map(|(_, message)| [message.sender, message.recipient])).await?;
        let ids: Vec<MessageId> = waiting.iter().map(|(_, message)| message.id).collect();
        let claimed = cx.write(async move |tx| outbox::claim(tx, &ids).await).await?;
        waiting.retain(|(_, message)| claimed.contains(&message.id));
        let outcomes =
            join_all(waiting.into_iter().map(|(share, message)| forward(&cx, share, message, &authors))).await;
        let unsent: Vec<QueuedMessage> = outcomes.into_iter().flatten().collect();
        if !unsent.is_empty() {
            // The gateway has no place for more requests: the next run of the job tries again.
            return cx.write(async move |tx| unsent.iter().try_for_each(|message| outbox::restore(tx, message))).await;
        }
    }
}

/// What the agent makes of it is ignored: the message is in the owner's inbox in any case. Returns a message that was not sent.
async fn forward(
    cx: &PluginContext<Messages>,
    _share: HostShare,
    message: QueuedMessage,
    authors: &Authors,
) -> Option<QueuedMessage> {
    let (id, from, to) = (message.id, authors.get(message.sender).into(), authors.get(message.recipient).into());
    let (subject, body) = (message.subject.clone(), message.body.clone());
    let copy = render_json(&MessageView { id, from, to, subject, body, created_at: message.created_at }).ok()?;
    let response = Fetch::post(message.url.clone())
        .body(copy)
        .header("content-type", "application/json")
        .header("user-agent", format!("{}-gateway/inbox", cx.environment().brand.marker))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .truncate_at(0)
        .send(cx)
        .await;
    let has_no_place = matches!(response, Err(FetchError::Busy(_)));
    let outcome = match &response {
        _ if has_no_place => "put_back",
        Ok(response) if response.is_success() => "taken",
        Ok(_) => "refused",
        Err(_) => "failed",
    };
    cx.count("messages_forwarded", &BTreeMap::from([("outcome", outcome)]), 1);
    if let Err(error) = response {
        cx.debug(&format!("message {id} was not forwarded: {error}"));
    }
    has_no_place.then_some(message)
}
