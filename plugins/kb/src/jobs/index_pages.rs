//! Indexes the words of pages again, after a migration changed what a word is. Until then these pages are found by their old words,
//! or not at all.

use crate::{Kb, store::unindexed};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);
/// Pages of one transaction.
const BATCH_MAX: u32 = 20;

pub fn job() -> Job<Kb> {
    Job::every("index_pages", INTERVAL, index_pages)
}

async fn index_pages(cx: PluginContext<Kb>) -> Result<(), HostError> {
    while unindexed::exist(&cx.db()).await? {
        let index = cx.plugin().index;
        cx.write(async move |tx| unindexed::index(tx, index, BATCH_MAX).await).await?;
    }
    Ok(())
}
