//! Deletes the daily probe counts that are older than a year.

use crate::{Agents, store::cards};
use plugin_api::{HostError, Job, PluginContext};

const KEPT_DAYS: i64 = 366;

pub fn job() -> Job<Agents> {
    Job::cron("prune_probe_days", "17 4 * * *", prune_probe_days)
}

async fn prune_probe_days(cx: PluginContext<Agents>) -> Result<(), HostError> {
    let tx = cx.begin();
    cards::forget_days_before(&tx, cx.now_s() / cards::DAY_S - KEPT_DAYS).await?;
    tx.commit().await
}
