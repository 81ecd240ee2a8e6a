//! Contributions to extension points.

use crate::{
    Loadtest,
    store::{
        blocks,
        runner::{self, Mode, Runner},
        wallets,
    },
};
use plugin_api::{
    HostError, PluginContext,
    point::{Control, ControlPress, ControlsInput, NoInput, ServiceStatus, members},
};
use std::collections::BTreeMap;

/// Not ok while membership cannot be believed.
pub async fn status(cx: PluginContext<Loadtest>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (db, is_on) = (cx.db(), cx.plugin().branch.is_some());
    let problem = wallets::branch(&db).await?.and_then(|branch| branch.problem);
    let numbers = members([
        ("wallets", wallets::last(&db).await?.unwrap_or(0).into()),
        ("planned", cx.plugin().config.wallets.into()),
        ("followedBlock", blocks::last(&db).await?.map(|block| block.number).into()),
    ]);
    let status = ServiceStatus { ok: problem.is_none(), enabled: Some(is_on), detail: problem, numbers };
    Ok(status.named("loadtest"))
}

/// Name of the only switch.
const RUNNER: &str = "runner";

/// The runner, where this gateway runs it or did.
pub async fn controls(cx: PluginContext<Loadtest>, input: ControlsInput) -> Result<Vec<Control>, HostError> {
    let may_start = cx.plugin().config.runner;
    if let Some(mode) = input.press.as_ref().and_then(|press| mode(press, may_start)) {
        cx.write(async move |tx| runner::switch(tx, mode).await.map(drop)).await?;
    }
    let found = runner::find(&cx.db()).await?;
    if !may_start && found.is_none() {
        return Ok(Vec::new());
    }
    let state = found.as_ref().map_or("off", |runner| runner.mode.name());
    let mut actions = actions(found.as_ref()).to_vec();
    actions.retain(|action| may_start || *action != "start");
    let reason = found.and_then(|runner| runner.reason);
    Ok(vec![Control { reason, ..Control::new(RUNNER, state, &actions) }])
}

fn mode(press: &ControlPress, may_start: bool) -> Option<Mode> {
    match &*press.action {
        "start" if may_start => Some(Mode::Running),
        "pause" => Some(Mode::Paused),
        "drain" => Some(Mode::Draining),
        _ => None,
    }
}

const fn actions(runner: Option<&Runner>) -> &'static [&'static str] {
    match runner {
        None => &["start"],
        Some(Runner { mode: Mode::Running, .. }) => &["pause", "drain"],
        Some(Runner { mode: Mode::Paused, .. }) => &["start", "drain"],
        Some(Runner { mode: Mode::Draining, .. }) => &["start", "pause"],
        Some(Runner { mode: Mode::Drained, .. }) => &["start"],
    }
}
