//! Deletes old lines of the guest book. A job must be idempotent: a second run of this one finds nothing.

use crate::{Hello, store};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60 * 60);
const DAY_S: i64 = 24 * 60 * 60;

pub fn job() -> Job<Hello> {
    Job::every("prune_guests", INTERVAL, prune_guests)
}

async fn prune_guests(cx: PluginContext<Hello>) -> Result<(), HostError> {
    let keep_s = i64::from(cx.plugin().config.keep_days) * DAY_S;
    let deleted = cx.write(async move |tx| store::delete_guests_before(tx, tx.now_s() - keep_s).await).await?;
    if deleted > 0 {
        cx.info(&format!("deleted {deleted} old lines of the guest book"));
    }
    Ok(())
}
