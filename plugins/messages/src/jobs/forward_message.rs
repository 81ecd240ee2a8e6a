//! Forwards copies of messages to the agents of their recipients: `POST <endpoint>/inbox`, best effort. An agent that does not
//! respond finds the message in its inbox.
//!
//! The rule: a copy that was sent is done, whatever the agent made of it. Only one that was not sent is tried again.

use crate::{
    Messages,
    model::MessageView,
    store::copies::{self, CopyTask},
};
use plugin_api::{
    Address, Author, Fetch, HostError, PluginContext,
    handles::FetchError,
    queue::{Retry, Task},
    render_json,
};
use std::{collections::BTreeMap, time::Duration};

/// Of one request.
const TIMEOUT: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u8 = 3;
/// A copy is given up when it is older than this and its host still gets no request: one that never answered 2xx gets one a minute,
/// and what is sent there would pile up.
const BUSY_HOST_MAX_MS: i64 = 60_000;
/// Until a copy that found no place among the plugin's requests is tried again: its own request had waited for one.
const NO_PLACE_PAUSE: Duration = Duration::from_secs(1);

pub async fn forward_message(cx: PluginContext<Messages>, task: Task<CopyTask>) -> Result<(), HostError> {
    let Some(message) = copies::find(&cx.db(), task.payload.id).await? else { return Ok(()) };
    let message = with_names(&cx, message).await?;
    let Ok(copy) = render_json(&message) else { return Ok(()) };
    // Another gateway may have it, after this one stood still.
    if !task.renew(&cx).await? {
        return Ok(());
    }
    let response = Fetch::post(&*task.payload.url)
        .body(copy)
        .header("content-type", "application/json")
        .header("user-agent", format!("{}-gateway/inbox", cx.environment().brand.marker))
        .timeout(TIMEOUT)
        .redirects_max(REDIRECTS_MAX)
        .truncate_at(0)
        .background()
        .send(&cx)
        .await;
    let is_old = cx.now_ms() - task.pushed_ms() >= BUSY_HOST_MAX_MS;
    let (label, pause) = match &response {
        Err(FetchError::Busy(_)) => ("put_back", Some(NO_PLACE_PAUSE)),
        Err(FetchError::DestinationBusy { retry_after, .. }) if !is_old => ("put_back", Some(*retry_after)),
        Err(FetchError::DestinationBusy { .. }) => ("given_up", None),
        Ok(response) if response.is_success() => ("taken", None),
        Ok(_) => ("refused", None),
        Err(_) => ("failed", None),
    };
    cx.count("messages_forwarded", &BTreeMap::from([("outcome", label)]), 1);
    let Err(error) = response else { return Ok(()) };
    cx.debug(&format!("message {} was not forwarded: {error}", task.payload.id));
    let Some(pause) = pause else { return Ok(()) };
    let reason = error.to_string();
    cx.write(async move |tx| task.retry(tx, Retry::After(pause), &reason).await.map(drop)).await
}

/// As the recipient reads it: a copy is no response, in which the gateway adds the names.
async fn with_names(cx: &PluginContext<Messages>, message: MessageView) -> Result<MessageView, HostError> {
    let (Author::Address(from), Author::Address(to)) = (&message.from, &message.to) else { return Ok(message) };
    let (from, to): (Address, Address) = (*from, *to);
    let authors = cx.authors([from, to]).await?;
    Ok(MessageView { from: authors.get(from).into(), to: authors.get(to).into(), ..message })
}
