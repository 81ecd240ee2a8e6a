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
/// A message is given up when it is older than this and its host still gets no request: one that never answered 2xx gets one a minute,
/// and what is sent there would pile up.
const BUSY_HOST_MAX_S: i64 = 60;

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
    // Those that have had their requests for now.
    let mut busy_hosts = Vec::new();
    loop {
        let shares = &cx.plugin().forwarding;
        let skipped = [shares.busy(), busy_hosts.clone()].concat();
        let waiting = outbox::waiting(&cx.db(), &skipped, REQUESTS_PER_HOST, CONCURRENT_REQUESTS).await?;
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
        let (mut unsent, mut has_place) = (Vec::new(), true);
        for outcome in outcomes {
            match outcome {
                Outcome::Over => {}
                Outcome::NoPlace(message) => {
                    has_place = false;
                    unsent.push(message);
                }
                Outcome::HostBusy(message) => {
                    busy_hosts.push(message.host.clone());
                    unsent.push(message);
                }
            }
        }
        if !unsent.is_empty() {
            cx.write(async move |tx| unsent.iter().try_for_each(|message| outbox::restore(tx, message))).await?;
        }
        if !has_place {
            // The next run of the job tries again.
            return Ok(());
        }
    }
}

/// What becomes of a message.
enum Outcome {
    /// It was sent, or is given up.
    Over,
    /// The plugin has no place for more requests.
    NoPlace(QueuedMessage),
    /// Its host gets no more requests for now.
    HostBusy(QueuedMessage),
}

/// What the agent makes of it is ignored: the message is in the owner's inbox in any case.
async fn forward(
    cx: &PluginContext<Messages>,
    _share: HostShare,
    message: QueuedMessage,
    authors: &Authors,
) -> Outcome {
    let (id, from, to) = (message.id, authors.get(message.sender).into(), authors.get(message.recipient).into());
    let (subject, body) = (message.subject.clone(), message.body.clone());
    let view = MessageView { id, from, to, subject, body, created_at: message.created_at };
    let Ok(copy) = render_json(&view) else { return Outcome::Over };
    let response = Fetch::post(message.url.clone())
        .body(copy)
        .header("content-type", "application/json")
        .header("user-agent", format!("{}-gateway/inbox", cx.environment().brand.marker))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .truncate_at(0)
        .background()
        .send(cx)
        .await;
    let is_old = cx.now_s() - message.queued_at >= BUSY_HOST_MAX_S;
    let (label, outcome) = match &response {
        Err(FetchError::Busy(_)) => ("put_back", Outcome::NoPlace(message)),
        Err(FetchError::DestinationBusy { .. }) if !is_old => ("put_back", Outcome::HostBusy(message)),
        Err(FetchError::DestinationBusy { .. }) => ("given_up", Outcome::Over),
        Ok(response) if response.is_success() => ("taken", Outcome::Over),
        Ok(_) => ("refused", Outcome::Over),
        Err(_) => ("failed", Outcome::Over),
    };
    cx.count("messages_forwarded", &BTreeMap::from([("outcome", label)]), 1);
    if let Err(error) = response {
        cx.debug(&format!("message {id} was not forwarded: {error}"));
    }
    outcome
}
