//! The runner. The rules: a transaction is signed for a nonce once and stored in the transaction that plans it, before it is sent; what a
//! wallet has follows from what is stored; nothing is signed while a guard has a reason against it, and what is paused goes on where it was.

mod accounts;
mod drain;
mod guards;
mod passing_error;
mod send;
mod wave;

use crate::{
    Loadtest,
    store::runner::{self, Mode, Runner},
};
use guards::Situation;
use passing_error::passing;
use plugin_api::{HostError, PluginContext};

pub use guards::GuardsRow;

/// Between two notes of the same situation, in seconds.
const NOTE_S: i64 = 10;

/// One step of everything that can be done now.
pub async fn step(cx: &PluginContext<Loadtest>) -> Result<(), HostError> {
    let config = &cx.plugin().config;
    let stored = runner::find(&cx.db()).await?;
    if stored.is_none() && config.runner && config.autostart {
        return cx.write(async |tx| runner::create(tx).await).await;
    }
    let Some(runner) = stored else { return Ok(()) };
    match runner.mode {
        Mode::Drained => return Ok(()),
        Mode::Running if !config.runner => {
            cx.warn("the configuration no longer lets this gateway run the load test: it drains");
            let drains = cx.write(async |tx| runner::set_mode(tx, Mode::Running, Mode::Draining).await).await;
            return passing(drains.map(|()| None)).map(drop);
        }
        _ => {}
    }
    let situation = guards::look(cx, &runner).await?;
    let mut reason = situation.reason();
    if reason.is_none() {
        reason = advance(cx, &runner, &situation).await?;
    }
    note(cx, &runner, &situation, reason).await
}

/// Returns why not all that could be done was done.
async fn advance(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
) -> Result<Option<String>, HostError> {
    let waits = plan(cx, runner, situation).await;
    // What is signed is sent, whatever became of the plans.
    let refused = passing(send::send(cx).await);
    let waits = waits?;
    refused.map(|refused| refused.or(waits))
}

/// Plans and signs what can be now.
async fn plan(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
) -> Result<Option<String>, HostError> {
    let waits = wave::advance_all(cx, runner, situation).await?;
    let planned = match runner.mode {
        Mode::Running => wave::begin(cx, runner, situation).await,
        Mode::Draining => drain::go_on(cx, runner, situation).await,
        Mode::Paused | Mode::Drained => Ok(None),
    };
    passing(planned).map(|planned| waits.or(planned))
}

async fn note(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
    reason: Option<String>,
) -> Result<(), HostError> {
    let (guards, float) = (situation.to_json(), situation.float_balance);
    let before: GuardsRow =
        runner.guards.as_deref().and_then(|guards| serde_json::from_str(guards).ok()).unwrap_or_default();
    // A write that nobody needs would outdate what is cached.
    if runner.reason == reason && situation.view.at < before.at + NOTE_S {
        return Ok(());
    }
    cx.write(async move |tx| runner::note(tx, reason.as_deref(), &guards, float).await).await
}
