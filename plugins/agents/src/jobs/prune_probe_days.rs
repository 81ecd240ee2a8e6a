//! Deletes the daily probe counts that are older than a year.

use crate::{Agents, store::cards};
use plugin_api::{HostError, Job, PluginContext};

const RETENTION_DAYS: i64 = 366;

pub fn job() -> Job<Agents> {
    Job::cron("prune_probe_days", "17 4 * * *", prune_probe_days)
}

async fn prune_probe_days(cx: PluginContext<Agents>) -> Result<(), HostError> {
    cx.write(async |tx| cards::delete_days_before(tx, tx.now_s() / cards::DAY_S - RETENTION_DAYS).await).await
}
