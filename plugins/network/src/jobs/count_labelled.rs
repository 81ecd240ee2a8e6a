//! Counts the edges of labelled addresses, which the number of all edges leaves out.

use crate::{Network, model::Kind, store::labelled};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(300);

pub fn job() -> Job<Network> {
    Job::every("count_labelled", INTERVAL, count_labelled)
}

async fn count_labelled(cx: PluginContext<Network>) -> Result<(), HostError> {
    let labelled = cx.labelled_addresses().await?;
    for kind in Kind::ALL {
        let counted = labelled::count(&cx.db(), kind, &labelled).await?;
        if counted != labelled::find(&cx.db(), kind).await? {
            cx.write(async move |tx| labelled::store(tx, kind, counted).await).await?;
        }
    }
    Ok(())
}
