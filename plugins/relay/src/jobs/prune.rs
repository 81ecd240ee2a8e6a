//! Deletes what is not needed any more, above all the hashes of clients.

use crate::{
    Relay,
    store::{caps, sends},
};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(3600);

pub fn job() -> Job<Relay> {
    Job::every("prune", INTERVAL, prune)
}

async fn prune(cx: PluginContext<Relay>) -> Result<(), HostError> {
    cx.write(async |tx| {
        let now_s = tx.now_s();
        let sends = [sends::SendsTable::Calls, sends::SendsTable::Accounts].map(|table| sends::prune(table, now_s));
        tx.batch(caps::prune(now_s).into_iter().chain(sends.into_iter().flatten()).collect()).await.map(drop)
    })
    .await
}
