//! Follows the drips to their end. The rule: a share is given back once, and only when the drip can never be in a block any more.

use crate::{
    Faucet,
    store::{self, OpenDrip},
};
use plugin_api::{
    HostError, Job, PluginContext,
    chain::{IntentEnd, IntentStatus},
};
use std::time::Duration;

pub const FOLLOW_JOB: &str = "follow";
const INTERVAL: Duration = Duration::from_secs(5);
const DRIPS_MAX: u32 = 1000;

pub fn job() -> Job<Faucet> {
    Job::every(FOLLOW_JOB, INTERVAL, follow)
}

async fn follow(cx: PluginContext<Faucet>) -> Result<(), HostError> {
    for drip in store::open(&cx.db(), DRIPS_MAX).await? {
        match cx.intent_status(drip.intent).await? {
            Some(status) => note(&cx, drip, &status).await?,
            None => cx.error(&format!("the journal does not know intent {} of drip {}", drip.intent, drip.id)),
        }
    }
    Ok(())
}

async fn note(cx: &PluginContext<Faucet>, drip: OpenDrip, status: &IntentStatus) -> Result<(), HostError> {
    let is_mined = status.block.is_some();
    match status.end() {
        Some(end) => {
            cx.write(async move |tx| {
                if store::end(tx, drip.id, end).await? && end == IntentEnd::Returned {
                    store::give_back(tx, &drip).await?;
                }
                Ok(())
            })
            .await
        }
        None if is_mined != drip.mined_at.is_some() => {
            cx.write(async move |tx| store::set_mined(tx, drip.id, is_mined).await).await
        }
        None => Ok(()),
    }
}
