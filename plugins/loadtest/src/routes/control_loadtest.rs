//! `POST /api/loadtest/runner`: an operator starts, pauses or drains the load test. Nobody else can.

use crate::{
    Loadtest,
    error::RunnerError,
    store::runner::{self, Mode},
};
use plugin_api::{HandlerError, Json, JsonSchema, RequestContext, Route, Signed};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Command {
    /// Begins, or goes on after a pause or a drain.
    Start,
    /// Nothing is signed or sent until it is started again.
    Pause,
    /// No wave begins any more, and all coins go back.
    Drain,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
struct Control {
    /// `start`, `pause` or `drain`.
    #[serde(rename = "do")]
    command: Command,
}

#[derive(Serialize, JsonSchema)]
struct Controlled {
    /// What the runner does now: `running`, `paused` or `draining`.
    mode: &'static str,
}

pub fn route() -> Route<Loadtest> {
    Route::post("/api/loadtest/runner", control_loadtest)
        .signed("loadtest.control")
        .needs_setting("operators", &RunnerError::NoOperators)
        .per_minute(60)
        .summary("Start, pause or drain the load test; for operators")
}

async fn control_loadtest(
    cx: RequestContext<Loadtest>,
    Signed { signer, payload }: Signed<Control>,
) -> Result<Json<Controlled>, HandlerError<RunnerError>> {
    let config = &cx.plugin().config;
    if !config.is_operator(signer) {
        return Err(RunnerError::NotOperator.into());
    }
    let mode = match payload.command {
        Command::Start if !config.runner => return Err(RunnerError::Off.into()),
        Command::Start => Mode::Running,
        Command::Pause => Mode::Paused,
        Command::Drain => Mode::Draining,
    };
    cx.write(async move |tx| match runner::switch(tx, mode).await? {
        true => Ok(()),
        false => Err(RunnerError::NotStarted.into()),
    })
    .await?;
    cx.info(&format!("the operator {signer} has the load test {}", mode.name()));
    Ok(Json(Controlled { mode: mode.name() }))
}
