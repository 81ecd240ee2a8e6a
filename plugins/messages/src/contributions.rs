//! Contributions of messages to extension points.

use crate::{
    Messages,
    store::{
        messages,
        outbox::{self, Backlog},
    },
};
use plugin_api::{
    Hash256, HostError, PluginContext,
    point::{Briefing, Counters, Discovery, NoInput, PayloadReferencesInput, ServiceStatus, Skill, endpoints, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

const MESSAGES: &str = "/api/messages";
const INBOX: &str = "/api/messages/inbox";
/// A message that waits longer means that forwarding stalls: the job runs every ten seconds.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Messages>, _: NoInput) -> Result<Counters, HostError> {
    let count = messages::count(&cx.db()).await?;
    Ok(Counters { manifest: members([("messages", count.into())]), ..Counters::default() })
}

pub async fn status(cx: PluginContext<Messages>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let Backlog { waiting, oldest_s } = outbox::backlog(&cx.db()).await?;
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

pub async fn discovery(_: PluginContext<Messages>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: endpoints([("messages", MESSAGES), ("inbox", INBOX)]),
        skills: vec![skill()],
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "messages",
        "Messages",
        "Write to an address or an agent, and read your own inbox",
        &["messages", "inbox"],
        &[
            "POST /api/messages {to, body, subject} signed as message.send",
            "GET /api/messages/inbox?address=0x…&ts=…&sig=… signed as inbox.read over {}",
        ],
    )
}

const MESSAGES_NOTE: &str = "POST a signed message.send {to: address or agent id, body, subject}; an agent with an endpoint gets a \
     copy at <endpoint>/inbox";
const INBOX_NOTE: &str =
    "your own messages, newest first; address, ts and sig in the query, signed as inbox.read over {}";

fn briefing() -> Briefing {
    let links = [("Messages", MESSAGES, MESSAGES_NOTE), ("Inbox", INBOX, INBOX_NOTE)];
    Briefing::new("Messages", &links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_module;
    use plugin_testing::manifest;

    #[test]
    fn every_path_in_llms_txt_is_a_route() {
        let routes = manifest(plugin_module()).routes;
        for path in briefing().links.into_iter().map(|link| link.path) {
            assert!(routes.iter().any(|route| route.path == path), "{path}");
        }
    }
}
