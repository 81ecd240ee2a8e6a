//! Deletes what is not needed any more, above all the hashes of clients.

use crate::{Faucet, store};
use plugin_api::{HostError, Job, PluginContext};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(3600);

pub fn job() -> Job<Faucet> {
    Job::every("prune", INTERVAL, prune)
}

async fn prune(cx: PluginContext<Faucet>) -> Result<(), HostError> {
    cx.write(async |tx| tx.batch(store::prune(tx.now_s())).await.map(drop)).await
}
