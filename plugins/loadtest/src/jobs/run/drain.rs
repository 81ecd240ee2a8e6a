//! The end: what waves left in wallets goes back to the float, and the float's coins to the sink.

use super::{
    accounts::{float_account, free_float, next_nonce},
    guards::Situation,
    wave,
};
use crate::{
    Loadtest,
    model::{Account, FLOAT, Kind, PlannedTransaction, apply},
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
        return debt(cx, situation).await;
    }
    // Also wallets above the configured number, if they were used when it was higher or somebody sent them something.
    let (_, seen) = wallets::seen(&cx.db()).await?;
    let derived = wallets::last(&cx.db()).await?.unwrap_or(0);
    let highest = runner.used_index.max(seen).min(derived);
    if runner.swept_index < highest {
        return sweep(cx, runner, situation, highest).await.map(|()| None);
    }
    if transactions::stored(&cx.db()).await? > 0 {
        return debt(cx, situation).await;
    }
    let (is_sent, reason) = empty_float(cx, situation).await?;
    if is_sent {
        return Ok(reason);
    }
    cx.info(&format!("the load test is drained: {}", reason.as_deref().unwrap_or("its coins are back in the float")));
    cx.write(async |tx| {
        waves::forget_accounts(tx).await?;
        runner::set_mode(tx, Mode::Draining, Mode::Drained).await
    })
    .await?;
    Ok(reason)
}

/// What the float lacks for what is signed already, which waits in vain until somebody sends it that.
async fn debt(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<Option<String>, HostError> {
    let owes = transactions::float_owes(&cx.db()).await?;
    let has = situation.float_balance.unwrap_or(Wei::ZERO);
    Ok((has < owes).then(|| {
        format!(
            "the float has {has} wei, and {owes} wei are needed for what is signed: it waits until somebody sends them"
        )
    }))
}

/// Looks at the next wallets, and takes back what somebody sent to them, or a wave left.
async fn sweep(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
    highest: i64,
) -> Result<(), HostError> {
    let (mut planned, mut before, mut after) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    if runner.swept_index == 0 && transactions::stored(&cx.db()).await? > 0 {
        // Of an earlier drain: balances are looked at when they are what they will be.
        return Ok(());
    }
    let (from, until) = (runner.swept_index, highest.min(runner.swept_index + WALLETS_MAX));
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
        planned.push(PlannedTransaction { kind: Kind::Final, sender: idx, nonce, recipient: Some(FLOAT), value, fee });
        apply(&mut after, planned.last());
    }
    let signed = wave::sign(cx, planned, gas, situation.gas_price).await?;
    cx.write(async move |tx| {
        runner::set_swept(tx, from, until).await?;
        waves::store(tx, WAVE, &signed, &before, &after).await
    })
    .await
}

/// Sends what the float has to the sink. Returns whether it did, and why it did not although there is a sink.
async fn empty_float(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<(bool, Option<String>), HostError> {
    let Some(sink) = cx.plugin().config.sink_address() else { return Ok((false, None)) };
    if wallets::index_of(&cx.db(), sink).await?.is_some() {
        return Ok((false, Some("the sink is an address of the load test: the coins stay in the float".to_owned())));
    }
    let gas = wave::gas(cx).await?;
    let fee = situation.gas_price.saturating_mul(gas.unsigned_abs());
    let free = free_float(cx, situation).await?;
    if free == Wei::ZERO {
        return Ok((false, None));
    }
    let value = free.saturating_sub(fee);
    if value == Wei::ZERO {
        let reason = format!("the float keeps {free} wei: less than the fee of sending them to the sink");
        return Ok((false, Some(reason)));
    }
    let before = waves::accounts(&cx.db(), &[FLOAT]).await?;
    let mut after = BTreeMap::from([(FLOAT, float_account(cx, situation).await?)]);
    let nonce = after.get(&FLOAT).map_or(0, |float| float.nonce);
    let planned = PlannedTransaction { kind: Kind::Sink, sender: FLOAT, nonce, recipient: None, value, fee };
    apply(&mut after, Some(&planned));
    let signed = wave::sign(cx, vec![planned], gas, situation.gas_price).await?;
    cx.write(async move |tx| waves::store(tx, WAVE, &signed, &before, &after).await).await.map(|()| (true, None))
}
