//! Deletes credits that have expired, and the counts of past days.

use crate::{Memory, store};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60 * 60);

pub fn job() -> Job<Memory> {
    Job::every("prune_credits", INTERVAL, prune_credits)
}

async fn prune_credits(cx: PluginContext<Memory>) -> Result<(), HostError> {
    cx.write(async |tx| {
        tx.execute(store::credits::delete_expired(tx.now_s())).await?;
        tx.execute(store::limits::delete_uploads_before(tx.now_s())).await.map(drop)
    })
    .await
}
