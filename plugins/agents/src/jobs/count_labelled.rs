//! Counts what labelled addresses are part of the totals, which the counters leave out.

use crate::{Agents, store::labelled};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(300);

pub fn job() -> Job<Agents> {
    Job::every("count_labelled", INTERVAL, count_labelled)
}

async fn count_labelled(cx: PluginContext<Agents>) -> Result<(), HostError> {
    let counted = labelled::count(&cx.db(), &cx.labelled_addresses().await?).await?;
    if counted == labelled::find(&cx.db()).await? {
        return Ok(());
    }
    cx.write(async move |tx| labelled::store(tx, &counted).await).await
}
