//! Reads the escrow's review window. It may change at any time, and no event carries its initial value.

use crate::{Agents, store::settings};
use plugin_api::{
    HostError, Job, PluginContext,
    chain::{ContractCall, MAIN as MAIN_CHAIN},
};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(60);

pub fn job() -> Job<Agents> {
    Job::every("read_review_window", INTERVAL, read_review_window)
}

/// While the chain is unavailable the last value remains.
async fn read_review_window(cx: PluginContext<Agents>) -> Result<(), HostError> {
    let Some(escrow) = cx.environment().contract("escrow") else { return Ok(()) };
    let call = ContractCall::new(escrow, "reviewWindow() returns (uint64)");
    let seconds: i64 = match cx.chain(MAIN_CHAIN).call(call).await {
        Ok(seconds) => seconds,
        Err(error) => {
            cx.debug(&format!("the escrow does not say its review window: {error}"));
            return Ok(());
        }
    };
    if settings::review_window_s(&cx.db()).await? == Some(seconds) {
        return Ok(());
    }
    cx.write(async move |tx| settings::set_review_window_s(tx, seconds).await).await
}
