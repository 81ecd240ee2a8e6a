//! Scheduled jobs.

use crate::{Activity, model::IDLE_S, store::presence};
use plugin_api::{HostError, PluginContext};

/// Deletes addresses that have not pinged for a day. Idempotent, and may run late: a ping after a day starts a new stay anyway.
pub async fn forget_idle_presence(cx: PluginContext<Activity>) -> Result<(), HostError> {
    let tx = cx.begin();
    presence::delete_idle(&tx, cx.now_s() - IDLE_S).await?;
    tx.commit().await
}
