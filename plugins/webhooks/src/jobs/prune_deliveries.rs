//! Deletes finished deliveries that are old, counts of past days, and secrets of before that sign no more.

use crate::{
    Webhooks,
    model::DAY_S,
    store::{deliveries, endpoints, limits},
};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10 * 60);
const PAGE_ROWS: u32 = 1000;
/// The next run goes on.
const PAGES_MAX: u32 = 500;

pub fn job() -> Job<Webhooks> {
    Job::every("prune_deliveries", INTERVAL, prune_deliveries).timeout(Duration::from_secs(5 * 60))
}

async fn prune_deliveries(cx: PluginContext<Webhooks>) -> Result<(), HostError> {
    let keep_s = i64::from(cx.plugin().config.keep_days) * DAY_S;
    cx.write(async |tx| {
        tx.execute(endpoints::forget_old_secrets(tx.now_s())).await?;
        tx.execute(limits::TESTS.delete_before(tx.now_s())).await?;
        tx.execute(limits::REPLAYS.delete_before(tx.now_s())).await.map(drop)
    })
    .await?;
    for _ in 0..PAGES_MAX {
        let delete = async move |tx: &plugin_api::Tx| {
            tx.execute(deliveries::delete_finished_before(tx.now_s() - keep_s, PAGE_ROWS)).await
        };
        if cx.write(delete).await? < PAGE_ROWS.into() {
            return Ok(());
        }
    }
    Ok(())
}
