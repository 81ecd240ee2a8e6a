//! Asks the escrow how long clients may look at a delivery: it may be changed any time, and no event tells the first value.

use crate::{Agents, store::settings};
use plugin_api::{ContractCall, Gateway, HostError, Job, MAIN_CHAIN};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);

pub fn job() -> Job<Agents> {
    Job::every("read_review_window", INTERVAL, read_review_window)
}

/// While the chain is away the last answer stands.
async fn read_review_window(gateway: Gateway<Agents>) -> Result<(), HostError> {
    let Some(escrow) = gateway.environment().contract("escrow") else { return Ok(()) };
    let question = ContractCall::new(escrow, "reviewWindow() returns (uint64)");
    let seconds: i64 = match gateway.chain(MAIN_CHAIN).call(question).await {
        Ok(seconds) => seconds,
        Err(error) => {
            gateway.debug(&format!("the escrow does not say its review window: {error}"));
            return Ok(());
        }
    };
    if settings::review_window_s(&gateway.db()).await? == Some(seconds) {
        return Ok(());
    }
    let tx = gateway.begin();
    settings::set_review_window_s(&tx, seconds).await?;
    tx.commit().await
}
