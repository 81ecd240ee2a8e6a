//! The job that copies what agents declare from the view `agents_v1`, so that agents are found by it. A card may change at any probe, and no
//! event tells.

use crate::{
    Network,
    store::capabilities::{compare, store},
};
use plugin_api::{AgentId, HostError, Job, PluginContext};
use std::{sync::atomic::Ordering::Relaxed, time::Duration};

const INTERVAL: Duration = Duration::from_secs(60);
const AGENTS_OF_PART: u32 = 500;
/// A round looks at 20,000 agents at most, and the next one goes on behind them.
const PARTS_OF_ROUND: usize = 40;

pub fn job() -> Job<Network> {
    Job::every("read_capabilities", INTERVAL, read_capabilities)
}

async fn read_capabilities(cx: PluginContext<Network>) -> Result<(), HostError> {
    for _ in 0..PARTS_OF_ROUND {
        let after = AgentId(cx.plugin().read_up_to.load(Relaxed));
        let part = compare(&cx.db(), after, AGENTS_OF_PART).await?;
        if !part.changes.is_empty() {
            let changes = part.changes;
            cx.write(async move |tx| store(tx, &changes)).await?;
        }
        let AgentId(last) = part.last.unwrap_or(AgentId(0));
        cx.plugin().read_up_to.store(last, Relaxed);
        if part.last.is_none() {
            return Ok(());
        }
    }
    Ok(())
}
