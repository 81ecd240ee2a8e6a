//! Contributions to extension points.

use crate::{
    Loadtest,
    routes::runner_view::{self, RunnerView},
    store::{
        blocks, counts,
        runner::{self, Mode, Runner},
        wallets,
    },
};
use plugin_api::{
    HostError, PluginContext, Wei,
    point::{Control, ControlPlot, ControlPress, ControlsInput, NoInput, ServiceStatus, members},
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
const HOURS_PLOTTED: i64 = 24;

/// The runner, where this gateway runs it or did.
pub async fn controls(cx: PluginContext<Loadtest>, input: ControlsInput) -> Result<Vec<Control>, HostError> {
    let may_start = cx.plugin().config.runner;
    if let Some(mode) = input.press.as_ref().and_then(|press| mode(press, may_start)) {
        cx.write(async move |tx| runner::switch(tx, mode).await.map(drop)).await?;
    }
    let (db, now_s) = (cx.db(), cx.now_s());
    let view = runner_view::read(&db, &cx.plugin().config).await?;
    let found = view.runner.as_ref();
    if !may_start && found.is_none() {
        return Ok(Vec::new());
    }
    let state = found.map_or("off", |runner| runner.mode.name());
    let mut actions = actions(found).to_vec();
    actions.retain(|action| may_start || *action != "start");
    let mut control = Control::new(RUNNER, state, &actions);
    control.reason = found.and_then(|runner| runner.reason.clone());
    let Some(runner) = found else { return Ok(vec![control]) };
    let RunnerView { waves, pending, refused, in_flight, .. } = &view;
    let totals = counts::totals(&db).await?.unwrap_or_default();
    let coins =
        |amount: Option<Wei>| amount.map_or_else(|| "unknown".to_owned(), |wei| format!("{} coins", wei.in_coins()));
    let control = control
        .counter("transactions in final blocks", totals.labelled)
        .counter("transactions under way", pending)
        .counter("transactions refused", refused)
        .counter("waves under way", waves.len())
        .counter("wallets used", runner.used_index)
        .counter("given to wallets under way", coins(Some(*in_flight)))
        .counter("float", coins(runner.float_balance))
        .counter("fees", coins(Some(runner.fees)));
    let plot = ControlPlot {
        title: "Transactions of the load test per hour".to_owned(),
        since: format!("{} h ago", HOURS_PLOTTED - 1),
        values: counts::hours(&db, now_s, HOURS_PLOTTED).await?,
    };
    Ok(vec![Control { plot: Some(plot), ..control }])
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
