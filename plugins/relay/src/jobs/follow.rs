//! Follows calls and accounts to their end. The rule: a share is given back once, and only when its transaction can never be in a block
//! any more.

use crate::{
    Relay,
    config::Config,
    store::{
        caps::{self, Client, Share},
        sends::{self, OpenSend, SendsTable},
    },
};
use plugin_api::{
    HostError, Job, PluginContext,
    chain::{IntentEnd, IntentStatus},
};
use std::time::Duration;

pub const FOLLOW_JOB: &str = "follow";
const INTERVAL: Duration = Duration::from_secs(5);
const SENDS_MAX: u32 = 2000;

pub fn job() -> Job<Relay> {
    Job::every(FOLLOW_JOB, INTERVAL, follow)
}

async fn follow(cx: PluginContext<Relay>) -> Result<(), HostError> {
    for table in [SendsTable::Calls, SendsTable::Accounts] {
        for send in sends::open(&cx.db(), table, SENDS_MAX).await? {
            match cx.intent_status(send.intent).await? {
                Some(status) => note(&cx, table, send, &status).await?,
                None => cx.error(&format!("the journal does not know intent {} of {table:?}", send.intent)),
            }
        }
    }
    Ok(())
}

async fn note(
    cx: &PluginContext<Relay>,
    table: SendsTable,
    send: OpenSend,
    status: &IntentStatus,
) -> Result<(), HostError> {
    let (id, is_mined) = (send.id, status.block.is_some());
    let Some(end) = status.end() else {
        if is_mined == send.mined_at.is_some() {
            return Ok(());
        }
        return cx.write(async move |tx| sends::set_mined(tx, table, id, is_mined).await).await;
    };
    let config = cx.plugin().config.clone();
    cx.write(async move |tx| {
        if sends::end(tx, table, id, end).await? && end == IntentEnd::Returned {
            caps::give_back(tx, &shares(&config, table, &send), send.created_at).await?;
        }
        Ok(())
    })
    .await
}

/// What was counted for it.
fn shares(config: &Config, table: SendsTable, send: &OpenSend) -> Vec<Share> {
    let client = Client { network: send.client.clone(), site: send.site.clone() };
    match table {
        SendsTable::Calls => caps::of_call(config, &send.share, &client),
        SendsTable::Accounts => caps::of_account(config, &send.share, &client),
    }
}
