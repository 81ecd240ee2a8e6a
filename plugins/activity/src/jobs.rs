//! Deletes addresses that have not pinged for a day. Idempotent, and may run late: a ping after a day starts a new stay anyway.

use crate::{Activity, store::presence};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60 * 60);

pub fn job() -> Job<Activity> {
    Job::every("forget_idle_presence", INTERVAL, forget_idle_presence)
}

async fn forget_idle_presence(cx: PluginContext<Activity>) -> Result<(), HostError> {
    cx.write(async |tx| presence::delete_idle(tx).await).await
}
