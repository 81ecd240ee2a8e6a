//! Contributions of messages to extension points.

use crate::{Messages, store};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput, ServiceStatus},
};
use std::collections::BTreeMap;

/// A message that waits longer means that forwarding stalls: the queue gives up what it cannot send after a minute.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Messages>, _: NoInput) -> Result<Counters, HostError> {
    let count = store::messages::count(&cx.db()).await?;
    Ok(Counters::manifest([("messages", count.into())]))
}

pub async fn status(cx: PluginContext<Messages>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (waiting, oldest_ms) = store::copies::backlog(&cx.db()).await?;
    let oldest_age_s = oldest_ms.map(|at| (cx.now_ms() - at).max(0) / 1000);
    let ok = oldest_age_s.is_none_or(|age| age <= WAIT_MAX_S);
    let numbers = [("waiting", waiting.into()), ("oldestWaitingAgeS", oldest_age_s.into())];
    Ok(ServiceStatus::new(ok, "messages wait to be forwarded", numbers).named("messageForwarding"))
}
