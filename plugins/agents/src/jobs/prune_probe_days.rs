//! Forgets how agents answered more than a year ago.

use crate::{Agents, store::cards};
use plugin_api::{Gateway, HostError, Job};

const KEPT_DAYS: i64 = 366;

pub fn job() -> Job<Agents> {
    Job::cron("prune_probe_days", "17 4 * * *", prune_probe_days)
}

async fn prune_probe_days(gateway: Gateway<Agents>) -> Result<(), HostError> {
    let tx = gateway.begin();
    cards::forget_days_before(&tx, gateway.now_s() / cards::DAY_S - KEPT_DAYS).await?;
    tx.commit().await
}
