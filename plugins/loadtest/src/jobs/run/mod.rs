//! The runner. The rules: a transaction is signed for a nonce once and stored in the transaction that plans it, before it is sent; what a
//! wallet has follows from what is stored; nothing is signed while a guard has a reason against it, and what is paused goes on where it was.

mod drain;
mod guards;
mod send;
mod wave;

use crate::{
    Loadtest,
    model::{Account, FLOAT},
    store::{
        runner::{self, Mode, Runner},
        transactions, wallets, waves,
    },
};
use guards::Situation;
use plugin_api::{
    HostError, HostErrorCode, PluginContext, Wei,
    chain::{MAIN, RawCall},
};

pub use guards::GuardsRow;

/// Role of the seed of the wallets.
pub const ROLE: &str = "loadtest";

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

/// A passing error as the reason to wait.
fn passing(result: Result<Option<String>, HostError>) -> Result<Option<String>, HostError> {
    match result {
        Err(error) if is_passing(&error) => Ok(Some(error.message.to_string())),
        other => other,
    }
}

/// What the next run may do, or another gateway has done.
fn is_passing(error: &HostError) -> bool {
    error.is_transient()
        || [HostErrorCode::Constraint, HostErrorCode::Unavailable, HostErrorCode::Disabled]
            .into_iter()
            .any(|code| error.is(code))
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

/// The float's balance after the block up to which the chain is followed, without what it owes to transactions that are in no block.
async fn free_float(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<Wei, HostError> {
    let owes = transactions::float_owes(&cx.db()).await?;
    Ok(situation.float_balance.unwrap_or(Wei::ZERO).saturating_sub(owes))
}

/// The float's account with its next nonce: the stored one, and where nothing of it is under way at least the chain's.
async fn float_account(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<Account, HostError> {
    let stored = waves::accounts(&cx.db(), &[FLOAT]).await?.remove(&FLOAT);
    let mut account = stored.unwrap_or(Account { idx: FLOAT, nonce: 0, balance: Wei::ZERO });
    if !waves::is_float_busy(&cx.db()).await? {
        account.nonce = account.nonce.max(next_nonce(cx, FLOAT, situation).await?);
    }
    Ok(account)
}

/// The next nonce of a wallet after the block up to which the chain is followed: a server that has not this block yet does not tell.
async fn next_nonce(cx: &PluginContext<Loadtest>, index: i64, situation: &Situation) -> Result<i64, HostError> {
    let unavailable = |what: &str| HostError::new(HostErrorCode::Unavailable, format!("wallet {index} {what}"));
    let address = wallets::address(&cx.db(), index).await?.ok_or_else(|| unavailable("is not derived yet"))?;
    let params = format!(r#"["{address}", "{:#x}"]"#, situation.followed);
    let answer = cx.chain(MAIN).raw_call(RawCall::new("eth_getTransactionCount", params)).await?;
    let count: Option<String> = answer.result.ok().and_then(|json| serde_json::from_slice(&json).ok());
    let count = count.and_then(|count| i64::from_str_radix(count.strip_prefix("0x")?, 16).ok());
    count.ok_or_else(|| unavailable("has a next nonce that no server tells"))
}
