//! The end: what waves left in wallets goes back to the float, and the float's coins to the sink.

use super::{Situation, float_account, free_float, next_nonce, wave};
use crate::{
    Loadtest,
    model::{Account, FLOAT, Kind, Planned, apply},
    store::{
        runner::{self, Mode, Runner},
        transactions, wallets, waves,
    },
};
use plugin_api::{HostError, PluginContext, Wei, chain::MAIN};
use std::collections::BTreeMap;

/// Wallets of one run.
const WALLETS_MAX: i64 = 25;
/// The wave of what is sent here.
const WAVE: i64 = 0;

/// The next step, when all waves are done and all of their transactions final. Returns what it waits for.
pub async fn go_on(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
) -> Result<Option<String>, HostError> {
    if !waves::all(&cx.db()).await?.is_empty() {
        return Ok(None);
    }
    let highest = if runner.pass > 0 { i64::from(cx.plugin().config.wallets) } else { runner.next_index - 1 };
    let derived = wallets::last(&cx.db()).await?.unwrap_or(0);
    if runner.swept_index < highest.min(derived) {
        return sweep(cx, runner, situation, highest.min(derived)).await.map(|()| None);
    }
    if transactions::stored(&cx.db()).await? > 0 {
        return Ok(None);
    }
    if !empty_float(cx, situation).await? {
        cx.info("the load test is drained");
        cx.write(async |tx| {
            waves::forget_accounts(tx).await?;
            runner::set_mode(tx, Mode::Drained).await
        })
        .await?;
    }
    Ok(None)
}

/// Looks at the next wallets, and takes back what somebody sent to them, or a wave left.
async fn sweep(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
    highest: i64,
) -> Result<(), HostError> {
    let (mut planned, mut before, mut after) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let until = highest.min(runner.swept_index + WALLETS_MAX);
    let gas = wave::gas(cx).await?;
    let fee = situation.gas_price.saturating_mul(gas.unsigned_abs());
    for idx in runner.swept_index + 1..=until {
        let Some(address) = wallets::address(&cx.db(), idx).await? else { continue };
        let balance = cx.chain(MAIN).balance(address, u64::try_from(situation.followed).ok()).await?;
        if balance <= fee {
            continue;
        }
        let nonce = next_nonce(cx, idx, situation).await?;
        before.extend(waves::accounts(&cx.db(), &[idx]).await?);
        after.insert(idx, Account { idx, nonce, balance });
        let value = balance.saturating_sub(fee);
        planned.push(Planned { kind: Kind::Final, sender: idx, nonce, recipient: Some(FLOAT), value, fee });
        apply(&mut after, planned.last());
    }
    let signed = wave::sign(cx, planned, gas, situation.gas_price).await?;
    cx.write(async move |tx| {
        runner::set_swept(tx, until).await?;
        waves::store(tx, WAVE, &signed, &before, &after).await
    })
    .await
}

/// Sends what the float has to the sink. False when there is no sink, or nothing to send.
async fn empty_float(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<bool, HostError> {
    if cx.plugin().config.sink_address().is_none() {
        return Ok(false);
    }
    let gas = wave::gas(cx).await?;
    let fee = situation.gas_price.saturating_mul(gas.unsigned_abs());
    let value = free_float(cx, situation).await?.saturating_sub(fee);
    if value == Wei::ZERO {
        return Ok(false);
    }
    let before = waves::accounts(&cx.db(), &[FLOAT]).await?;
    let mut after = BTreeMap::from([(FLOAT, float_account(cx, situation).await?)]);
    let nonce = after.get(&FLOAT).map_or(0, |float| float.nonce);
    let planned = Planned { kind: Kind::Sink, sender: FLOAT, nonce, recipient: None, value, fee };
    apply(&mut after, Some(&planned));
    let signed = wave::sign(cx, vec![planned], gas, situation.gas_price).await?;
    cx.write(async move |tx| waves::store(tx, WAVE, &signed, &before, &after).await).await.map(|()| true)
}
