//! Which event concerns whom, and what they hear of it.
//!
//! The rule: the data has public members of the log with plain addresses, and the body of a message for its recipient only.

use super::event::{CHAIN_RETRACTED, event_of};
use plugin_api::{Address, stream::ActivityRow};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What has to be looked up for some events of the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LookupRequest {
    pub agents: BTreeSet<i64>,
    pub bounties: BTreeSet<i64>,
    pub messages: BTreeSet<i64>,
}

impl LookupRequest {
    pub fn by(events: &[ActivityRow]) -> Self {
        let mut request = Self::default();
        for event in events {
            let (ids, member) = match event.kind.as_str() {
                "case.opened" | "validation.done" => (&mut request.agents, "agentId"),
                "bounty.claim" => (&mut request.bounties, "bountyId"),
                "message.send" => (&mut request.messages, "messageId"),
                _ => continue,
            };
            ids.extend(integer(&event.data, member));
        }
        request
    }
}

/// What was looked up.
#[derive(Debug, Default)]
pub struct LookupResult {
    /// Who owns an agent.
    pub owners: BTreeMap<i64, Address>,
    /// Who posted a bounty.
    pub posters: BTreeMap<i64, Address>,
    pub messages: BTreeMap<i64, Message>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    pub message_id: i64,
    pub sender: Address,
    pub recipient: Address,
    pub subject: String,
    pub body: String,
    pub created_at: i64,
}

/// An event with those whom it concerns.
#[derive(Debug, PartialEq)]
pub struct Notification {
    pub event: &'static str,
    /// Position of the event in the activity log.
    pub activity_id: i64,
    pub recipients: BTreeSet<Address>,
    pub data: Value,
}

impl Notification {
    /// `None` for what concerns nobody that is known.
    pub fn of(row: &ActivityRow, lookups: &LookupResult) -> Option<Self> {
        let event = event_of(&row.kind).filter(|event| *event != CHAIN_RETRACTED)?;
        let (recipients, data) = match event {
            "dm.received" => of_message(row, lookups)?,
            "bounty.claimed" => of_claim(row, lookups),
            "stream.opened" => {
                let members = ["streamId", "payer", "payee", "ratePerSec", "deposit", "start", "stop", "tx"];
                (addresses(&row.data, &["payer", "payee"]), picked(&row.data, &members))
            }
            "sub.created" => {
                let members = ["subId", "planId", "payer", "payee", "periods", "paidThrough", "tx"];
                (addresses(&row.data, &["payer", "payee"]), picked(&row.data, &members))
            }
            "case.opened" => {
                let members = ["caseId", "jobId", "opener", "evidenceURI", "agentId", "tx"];
                let mut recipients = addresses(&row.data, &["client"]);
                recipients.extend(owner_of_agent(row, lookups));
                (recipients, picked(&row.data, &members))
            }
            "validation.done" => {
                let members = ["agentId", "requestHash", "response", "responseURI", "tag", "tx"];
                let mut data = picked(&row.data, &members);
                set(&mut data, "validator", json!(row.actor));
                (owner_of_agent(row, lookups).into_iter().collect(), data)
            }
            _ => {
                let mut data = row.data.clone();
                set(&mut data, "activityId", json!(row.id));
                (addresses(&row.data, &["owner", "client"]), data)
            }
        };
        (!recipients.is_empty()).then_some(Self { event, activity_id: row.id, recipients, data })
    }
}

/// The message may be gone, with the plugin that had it.
fn of_message(row: &ActivityRow, lookups: &LookupResult) -> Option<(BTreeSet<Address>, Value)> {
    let message = lookups.messages.get(&integer(&row.data, "messageId")?)?;
    let Message { message_id, sender, recipient, subject, body, created_at } = message;
    let data = json!({
        "messageId": message_id, "from": sender, "to": recipient, "subject": subject, "body": body, "createdAt": created_at,
    });
    Some(([*recipient].into(), data))
}

fn of_claim(row: &ActivityRow, lookups: &LookupResult) -> (BTreeSet<Address>, Value) {
    let poster = integer(&row.data, "bountyId").and_then(|bounty| lookups.posters.get(&bounty));
    let mut data = row.data.clone();
    set(&mut data, "claimer", json!(row.actor));
    (poster.copied().into_iter().collect(), data)
}

fn owner_of_agent(row: &ActivityRow, lookups: &LookupResult) -> Option<Address> {
    lookups.owners.get(&integer(&row.data, "agentId")?).copied()
}

/// Ids are numbers; those of agents and jobs may be written as texts.
fn integer(data: &Value, member: &str) -> Option<i64> {
    let value = data.get(member)?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

fn addresses(data: &Value, members: &[&str]) -> BTreeSet<Address> {
    members.iter().filter_map(|member| data.get(*member)?.as_str()?.parse().ok()).collect()
}

/// A member that the log does not have is null.
fn picked(data: &Value, members: &[&str]) -> Value {
    let pick = |member: &&str| ((*member).to_owned(), data.get(*member).cloned().unwrap_or_default());
    Value::Object(members.iter().map(pick).collect::<Map<_, _>>())
}

fn set(data: &mut Value, member: &str, value: Value) {
    if let Some(data) = data.as_object_mut() {
        data.insert(member.to_owned(), value);
    }
}
