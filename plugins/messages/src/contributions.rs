//! Contributions of messages to extension points.

use crate::{
    Messages,
    store::{messages::MESSAGES, outbox},
};
use plugin_api::{
    Hash256, HostError, PluginContext,
    point::{Counters, NoInput, PayloadReferencesInput, ServiceStatus, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

/// A message that waits longer means that forwarding stalls: the job runs every ten seconds.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Messages>, _: NoInput) -> Result<Counters, HostError> {
    let count = MESSAGES.count(&cx.db()).await?;
    Ok(Counters { manifest: members([("messages", count.into())]), ..Counters::default() })
}

pub async fn status(cx: PluginContext<Messages>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (waiting, oldest_s) = outbox::backlog(&cx.db()).await?;
    let oldest_age_s = oldest_s.map(|at| (cx.now_s() - at).max(0));
    let ok = oldest_age_s.is_none_or(|age| age <= WAIT_MAX_S);
    let detail = (!ok).then(|| "messages wait to be forwarded".to_owned());
    let numbers = members([("waiting", waiting.into()), ("oldestWaitingAgeS", oldest_age_s.into())]);
    Ok([("messageForwarding".to_owned(), ServiceStatus { ok, enabled: None, detail, numbers })].into())
}

pub async fn payload_references(
    cx: PluginContext<Messages>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, subject || ' ' || body FROM messages_messages WHERE id > $1 ORDER BY id LIMIT 200";
    referenced_payloads(&cx.db(), &hashes.into_iter().collect(), page).await
}
