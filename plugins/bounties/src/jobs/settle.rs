//! Settles bounties that a job completed long ago: lists and counters do not compute their state again.
//!
//! The rule: a settled bounty stays completed. Its job is completed in a block that no reorganisation takes away, and no later job or
//! refund makes another one the job that pays it (`is_stable` in `store/state.rs`); a completed bounty is not awarded again. A later
//! job that cites it makes it active again, so it is settled anew when that one is closed.

use crate::{Bounties, store::citations};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);
/// Deeper than any index follows a reorganisation.
const FINAL_AFTER_S: i64 = 86_400;
const BATCH_MAX: u32 = 500;

pub fn job() -> Job<Bounties> {
    Job::every("settle", INTERVAL, settle)
}

async fn settle(cx: PluginContext<Bounties>) -> Result<(), HostError> {
    let before_s = cx.now_s() - FINAL_AFTER_S;
    loop {
        let cited = citations::requested_before(&cx.db(), before_s, BATCH_MAX).await?;
        let is_last = cited.len() < BATCH_MAX as usize;
        if !cited.is_empty() {
            cx.write(async move |tx| citations::mark_taken(tx, &cited).await).await?;
        }
        if is_last {
            break;
        }
    }
    loop {
        let settled = cx.plugin().state.completed_before(&cx.db(), before_s, BATCH_MAX).await?;
        if settled.is_empty() {
            return Ok(());
        }
        let is_last = settled.len() < BATCH_MAX as usize;
        cx.write(async move |tx| crate::store::bounties::settle(tx, &settled).await).await?;
        if is_last {
            return Ok(());
        }
    }
}
