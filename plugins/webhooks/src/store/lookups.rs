//! What other plugins publish about the records of events: who owns an agent, who posted a bounty, what a message says.

use crate::model::{LookupRequest, LookupResult, Message};
use plugin_api::{Address, HostError, HostErrorCode, Query, Sql, sql};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// Bodies are long, and most recipients have no webhook. One who registers a webhook after this hears of later messages only.
/// `+` keeps the index of `active` out, by which each message would be compared with every webhook.
const MESSAGES: &str = "SELECT m.message_id, m.sender, m.recipient, m.subject, m.body, m.created_at FROM messages_v1 m \
    WHERE EXISTS (SELECT 1 FROM webhooks_endpoints e WHERE e.owner = m.recipient AND +e.active = 1) AND m.message_id";

pub async fn find(db: &impl Query, request: &LookupRequest) -> Result<LookupResult, HostError> {
    let LookupRequest { agents, bounties, messages } = request;
    let owners: Vec<(i64, Address)> = rows(db, "SELECT agent_id, owner FROM agents_v1 WHERE agent_id", agents).await?;
    let posters: Vec<(i64, Address)> =
        rows(db, "SELECT bounty_id, poster FROM bounties_v1 WHERE bounty_id", bounties).await?;
    let messages: Vec<Message> = rows(db, MESSAGES, messages).await?;
    Ok(LookupResult {
        owners: owners.into_iter().collect(),
        posters: posters.into_iter().collect(),
        messages: messages.into_iter().map(|message| (message.message_id, message)).collect(),
    })
}

/// A plugin whose data the operator deleted has no view any more: then nothing is found.
async fn rows<T: DeserializeOwned>(
    db: &impl Query,
    select: &'static str,
    ids: &BTreeSet<i64>,
) -> Result<Vec<T>, HostError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    match db.rows(selected(select, ids)).await {
        Err(error) if error.is(HostErrorCode::Statement) => Ok(Vec::new()),
        found => found,
    }
}

fn selected(select: &'static str, ids: &BTreeSet<i64>) -> Sql {
    let select = ids.iter().fold(sql(select).push(" IN (0"), |select, id| select.push_bind(", {}", *id));
    select.push(")")
}
