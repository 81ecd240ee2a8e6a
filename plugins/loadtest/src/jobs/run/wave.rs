//! Waves: begun while there is room, and moved on when all that they sent is in blocks.

use super::{
    accounts::{float_account, free_float, next_nonce},
    guards::Situation,
    passing_error::passing,
};
use crate::{
    Loadtest,
    model::{Account, FLOAT, MARKER, Phase, PlannedTransaction, ROLE, Wave, funding},
    store::{
        runner::{self, Mode, Runner},
        transactions, wallets, waves,
    },
};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext, Wei,
    chain::{GasEstimate, MAIN, SignedTransaction, TransactionRequest, WalletTransaction},
};
use std::collections::btree_map::Entry;

/// Gas of a transfer with the marker: by the rules before Prague, and by those since.
const GAS: [u64; 2] = [21_080, 21_200];

/// Moves on what can be moved on, and forgets what is done and final. What keeps one wave from moving on keeps no other one; returns what
/// keeps the first.
pub async fn advance_all(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
) -> Result<Option<String>, HostError> {
    let mut waits = None;
    for wave in waves::all(&cx.db()).await? {
        let moved = move_on(cx, runner, situation, wave).await;
        waits = waits.or(passing(moved.map(|()| None))?);
    }
    Ok(waits)
}

async fn move_on(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
    wave: Wave,
) -> Result<(), HostError> {
    let (pending, stored) = transactions::of_wave(&cx.db(), wave.id).await?;
    match wave.phase {
        Phase::Done if stored == 0 => cx.write(async move |tx| waves::forget(tx, &wave).await).await,
        Phase::Done => Ok(()),
        _ if pending == 0 => advance(cx, runner, situation, wave).await,
        _ if runner.mode == Mode::Draining => sweep_early(cx, situation, wave).await,
        _ => Ok(()),
    }
}

async fn advance(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
    wave: Wave,
) -> Result<(), HostError> {
    let config = &cx.plugin().config;
    let from = (wave.phase, wave.round);
    let before = waves::accounts(&cx.db(), &wave.indexes().collect::<Vec<_>>()).await?;
    let (price, is_planned) = wave.price(situation.gas_price_min, situation.gas_price);
    let fee = price.saturating_mul(wave.gas.unsigned_abs());
    let goes_on = runner.mode == Mode::Running && is_planned && wave.can_transfer(config.transfer_wei, fee, &before);
    let (phase, round) = wave.next(if goes_on { config.transfers.into() } else { 0 });
    let wave = Wave { phase, round, ..wave };
    let mut after = before.clone();
    let planned = wave.transactions(config.transfer_wei, fee, &mut after);
    let signed = sign(cx, planned, wave.gas, price).await?;
    cx.write(async move |tx| {
        waves::advance(tx, from, &wave).await?;
        waves::store(tx, wave.id, &signed, &before, &after).await
    })
    .await
}

/// While it drains, a wallet does not wait for the others of its wave, of which one may be stuck.
async fn sweep_early(cx: &PluginContext<Loadtest>, situation: &Situation, wave: Wave) -> Result<(), HostError> {
    let before = waves::accounts(&cx.db(), &wave.indexes().collect::<Vec<_>>()).await?;
    let busy = transactions::busy(&cx.db(), wave.id).await?;
    let (price, _) = wave.price(situation.gas_price_min, situation.gas_price);
    let mut after = before.clone();
    let planned = wave.early_sweeps(price.saturating_mul(wave.gas.unsigned_abs()), &busy, &mut after);
    if planned.is_empty() {
        return Ok(());
    }
    let signed = sign(cx, planned, wave.gas, price).await?;
    cx.write(async move |tx| waves::store(tx, wave.id, &signed, &before, &after).await).await
}

/// Begins a wave if there is room for one; returns why not, if that is worth telling.
pub async fn begin(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    situation: &Situation,
) -> Result<Option<String>, HostError> {
    let config = &cx.plugin().config;
    let all = waves::all(&cx.db()).await?;
    let active: Vec<&Wave> = all.iter().filter(|wave| wave.phase != Phase::Done).collect();
    let planned = i64::from(config.wallets);
    let (first, pass) =
        if runner.next_index > planned { (1, runner.pass + 1) } else { (runner.next_index, runner.pass) };
    let size = i64::from(config.wave_wallets).min(planned - first + 1);
    let is_taken = all.iter().any(|wave| wave.indexes().start < first + size && first < wave.indexes().end);
    if !situation.has_room || active.len() >= config.waves_max as usize || is_taken {
        return Ok(None);
    }
    if wallets::last(&cx.db()).await?.unwrap_or(0) < first + size - 1 {
        return Ok(Some("the wallets are not all derived yet".to_owned()));
    }
    let gas = gas(cx).await?;
    let rounds = i64::from(config.transfers);
    let gas_price = situation.gas_price;
    let fee = gas_price.saturating_mul(gas.unsigned_abs());
    let funding = funding(config.transfer_wei, fee, rounds);
    let id = all.last().map_or(1, |wave| wave.id + 1);
    let wave = Wave { id, first, size, phase: Phase::Fund, round: 0, gas, gas_price, funding };
    if let Err(reason) = limit(cx, runner, &active, &wave).await? {
        return Ok(reason);
    }
    let free = free_float(cx, situation).await?;
    if free < wave.cost().saturating_add(config.float_min_wei) {
        return Ok(Some(format!("the float has {free} wei to spend, and the next wave takes {}", wave.cost())));
    }
    fund(cx, runner, (wave, pass), situation).await.map(|()| None)
}

/// What forbids a wave beside those that are under way, with the reason if it is worth telling.
async fn limit(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    active: &[&Wave],
    wave: &Wave,
) -> Result<Result<(), Option<String>>, HostError> {
    let config = &cx.plugin().config;
    let rounds = i64::from(config.transfers);
    let given = |wave: &Wave| wave.funding.saturating_mul(wave.size.unsigned_abs());
    let in_flight = active.iter().fold(given(wave), |sum, wave| sum.saturating_add(given(wave)));
    if in_flight > config.in_flight_max_wei {
        return Ok(Err(active.is_empty().then(|| "a wave takes more than in_flight_max_wei".to_owned())));
    }
    let stored = transactions::fees(&cx.db()).await?;
    let fees = |wave: &Wave| wave.fees_max(rounds, config.gas_price_max_wei);
    let open = active.iter().fold(fees(wave), |sum, wave| sum.saturating_add(fees(wave)));
    if runner.fees.saturating_add(stored).saturating_add(open) <= config.spend_max_wei {
        return Ok(Ok(()));
    }
    if active.is_empty() {
        cx.warn("the load test has cost what it may: it drains");
        cx.write(async |tx| runner::set_mode(tx, Mode::Running, Mode::Draining).await).await?;
    }
    Ok(Err(Some("the fees reach spend_max_wei".to_owned())))
}

async fn fund(
    cx: &PluginContext<Loadtest>,
    runner: &Runner,
    (wave, pass): (Wave, i64),
    situation: &Situation,
) -> Result<(), HostError> {
    let from = runner.next_index;
    let indexes: Vec<i64> = std::iter::once(FLOAT).chain(wave.indexes()).collect();
    let before = waves::accounts(&cx.db(), &indexes).await?;
    let mut after = before.clone();
    for idx in wave.indexes() {
        if let Entry::Vacant(account) = after.entry(idx) {
            let nonce = next_nonce(cx, idx, situation).await?;
            account.insert(Account { idx, nonce, balance: Wei::ZERO });
        }
    }
    after.insert(FLOAT, float_account(cx, situation).await?);
    let planned = wave.transactions(cx.plugin().config.transfer_wei, wave.fee(), &mut after);
    let signed = sign(cx, planned, wave.gas, wave.gas_price).await?;
    cx.write(async move |tx| {
        waves::insert(tx, &wave).await?;
        runner::set_next(tx, from, wave.indexes().end, pass).await?;
        waves::store(tx, wave.id, &signed, &before, &after).await
    })
    .await
}

/// Signs what is planned, in its order.
pub async fn sign(
    cx: &PluginContext<Loadtest>,
    planned: Vec<PlannedTransaction>,
    gas: i64,
    gas_price: Wei,
) -> Result<Vec<(PlannedTransaction, SignedTransaction)>, HostError> {
    let mut requests = Vec::new();
    for planned in &planned {
        requests.push(WalletTransaction {
            wallet: u32::try_from(planned.sender).unwrap_or(u32::MAX),
            nonce: planned.nonce.unsigned_abs(),
            to: recipient(cx, planned.recipient).await?,
            value: planned.value,
            data: MARKER.to_owned(),
            gas: gas.unsigned_abs(),
            gas_price,
        });
    }
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let refused = |error: HostError| match error.is(HostErrorCode::Invalid) {
        // Above the operator's limit of all fees, for example, which he may raise.
        true => HostError::new(HostErrorCode::Unavailable, format!("the gateway does not sign: {}", error.message)),
        false => error,
    };
    let signed = cx.wallets(ROLE).sign(requests).await.map_err(refused)?;
    for (planned, signed) in planned.iter().zip(&signed) {
        let expected = recipient(cx, Some(planned.sender)).await?;
        if signed.sender != expected {
            let message =
                format!("the seed signs for wallet {} as {}, and not as {expected}", planned.sender, signed.sender);
            return Err(HostError::new(HostErrorCode::Unavailable, message));
        }
    }
    Ok(planned.into_iter().zip(signed).collect())
}

/// The address of a wallet; `None` is the sink.
async fn recipient(cx: &PluginContext<Loadtest>, index: Option<i64>) -> Result<Address, HostError> {
    let address = match index {
        Some(index) => wallets::address(&cx.db(), index).await?,
        None => cx.plugin().config.sink_address(),
    };
    address.ok_or_else(|| {
        HostError::new(HostErrorCode::Unavailable, "the address of a wallet or of the sink is not known")
    })
}

/// The gas that a transfer with the marker uses, exactly where the rules are known: then nothing of it is given back, and what a
/// wallet has is known to the wei. The estimate moves nothing, because the float may have nothing.
pub async fn gas(cx: &PluginContext<Loadtest>) -> Result<i64, HostError> {
    let [from, to] = [recipient(cx, Some(FLOAT)).await?, recipient(cx, Some(1)).await?];
    let chain = cx.chain(MAIN);
    let data = alloy_primitives::hex::decode(MARKER).unwrap_or_default();
    let transfer = TransactionRequest::new(ROLE, "gas", to).data(&data);
    for gas in GAS {
        if matches!(chain.estimate(from, &transfer.clone().gas(gas)).await?, GasEstimate::Gas(needed) if needed <= gas)
        {
            return Ok(i64::try_from(gas).unwrap_or(i64::MAX));
        }
    }
    match chain.estimate(from, &transfer).await? {
        GasEstimate::Gas(gas) => Ok(i64::try_from(gas).unwrap_or(i64::MAX)),
        GasEstimate::Fails(reason) => Err(HostError::new(HostErrorCode::Unavailable, reason)),
    }
}
