//! The runner's part of the counters.

use crate::{
    Config,
    jobs::run::GuardsRow,
    model::{Guards, LastPause, Phase, RunnerState, SinkTransfer, Wave},
    store::{
        runner::{self, Mode, Runner},
        sinks, transactions, waves,
    },
};
use plugin_api::{HostError, Query, Wei};

pub struct RunnerView {
    pub state: RunnerState,
    pub guards: Option<Guards>,
    pub runner: Option<Runner>,
    /// Those that are not done.
    pub waves: Vec<Wave>,
    /// Transactions that are signed and in no final block.
    pub pending: i64,
    pub refused: i64,
    pub in_flight: Wei,
    /// What the float owes to transactions that are in no block.
    pub reserve: Wei,
    pub sink_transfers: Vec<SinkTransfer>,
}

pub async fn read(db: &impl Query, config: &Config) -> Result<RunnerView, HostError> {
    let runner = runner::find(db).await?;
    let mut waves = waves::all(db).await?;
    waves.retain(|wave| wave.phase != Phase::Done);
    let given = |wave: &Wave| wave.funding.saturating_mul(wave.size.unsigned_abs());
    let transfers = sinks::newest(db).await?.into_iter();
    Ok(RunnerView {
        state: state(config, runner.as_ref()),
        guards: runner.as_ref().and_then(guards),
        pending: transactions::stored(db).await?,
        refused: transactions::refused(db).await?.0,
        in_flight: waves.iter().fold(Wei::ZERO, |sum, wave| sum.saturating_add(given(wave))),
        reserve: transactions::float_owes(db).await?,
        sink_transfers: transfers
            .map(|row| SinkTransfer { hash: row.hash, value_wei: row.value_wei, at: row.mined_at, block: row.block })
            .collect(),
        runner,
        waves,
    })
}

fn state(config: &Config, runner: Option<&Runner>) -> RunnerState {
    let is_active = |runner: &&Runner| matches!(runner.mode, Mode::Running | Mode::Draining);
    let is_paused = |runner: &Runner| match runner.mode {
        Mode::Paused => true,
        // A reason is why something was left over.
        Mode::Drained => false,
        Mode::Running | Mode::Draining => runner.reason.is_some(),
    };
    let paused = runner.is_some_and(is_paused);
    let last = runner.and_then(|runner| runner.last_reason.clone().zip(runner.last_paused_at));
    RunnerState {
        mode: runner.map_or("off", |runner| runner.mode.name()),
        enabled: config.runner && runner.as_ref().is_some_and(is_active),
        paused,
        pause_reason: runner.and_then(|runner| runner.reason.clone()),
        paused_since: runner.and_then(|runner| runner.paused_since),
        last_pause: last.map(|(reason, at)| LastPause { reason, at }),
        started_at: runner.map(|runner| runner.started_at),
        created_at: runner.map(|runner| runner.created_at),
        drained: runner.is_some_and(|runner| runner.mode == Mode::Drained),
        final_sweep: runner.and_then(|runner| runner.drained_at),
    }
}

fn guards(runner: &Runner) -> Option<Guards> {
    let row: GuardsRow = serde_json::from_str(runner.guards.as_deref()?).ok()?;
    Some(Guards {
        ok: row.reasons.is_empty(),
        reasons: row.reasons,
        head: row.head,
        head_age_s: row.head_age_s,
        signers: None,
        txpool_pending: row.pool,
        explorer_lag: None,
        at: row.at,
    })
}
