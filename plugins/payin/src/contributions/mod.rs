//! The status of pay-in, in words for everybody: reasons of errors and pauses are the operators'. And what only operators see: switches and
//! reports.

mod reports;

pub use reports::reports;

use crate::{
    Payin,
    jobs::{
        pay::{self, PAY_JOB},
        scan::INTERVAL_S,
    },
    model::ROLE,
    routes::unavailable_reason,
    store::{
        pauses, prices, quotes,
        scans::{self, Scan},
    },
};
use plugin_api::{
    HostError, PluginContext,
    point::{Control, ControlPress, ControlsInput, Counters, NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const WEEK_S: i64 = 7 * 86_400;
/// Name of the switch of all. No chain has a name with a hyphen.
const EVERYTHING: &str = "all-chains";
/// The reason of a pause for which nobody signs.
const ON_THE_PAGE: &str = "paused on the operator's page";

pub async fn status(cx: PluginContext<Payin>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (plugin, db, now_s) = (cx.plugin(), cx.db(), cx.now_s());
    let (hot_wallet, _) = pay::account(&cx).await?;
    let is_enabled = hot_wallet.is_some() && plugin.can_quote();
    let numbers = quotes::numbers(&db, now_s - WEEK_S).await?;
    let (scans, paused) = (scans::all(&db).await?, pauses::list(&db).await?);
    let (mut chains, mut unavailable) = (BTreeMap::new(), Vec::new());
    for chain in &plugin.chains {
        let scan = scans.get(&chain.slug);
        let reason = unavailable_reason(&cx, chain, scan).await?;
        if reason.is_some() {
            unavailable.push(chain.slug.clone());
        }
        chains.insert(chain.slug.clone(), of_chain(scan, reason));
    }
    let scopes = paused.into_iter().map(|(scope, _)| scope);
    let mut paused_assets: Vec<String> = scopes.filter(|scope| pauses::is_of_asset(scope)).collect();
    paused_assets.extend(prices::paused(&db).await?.into_iter().map(|(scope, _)| scope));
    paused_assets.sort_unstable();
    paused_assets.dedup();
    let problem = match is_enabled {
        false => None,
        true if numbers.lost > 0 => Some("deposits left their chains after their payouts"),
        true if numbers.failed > 0 => Some("payouts failed in their blocks: the operator decides"),
        true if !unavailable.is_empty() => Some("deposits of some chains are not taken now"),
        true if !paused_assets.is_empty() => {
            Some("some assets are paused: their decimals, or their prices, are not as they should be")
        }
        true => None,
    };
    let detail =
        problem.or((!is_enabled).then_some("without price, caps and a key of the role payin nothing is quoted"));
    let numbers = members([
        ("hotWallet", json!(hot_wallet)),
        ("pollMs", json!(INTERVAL_S * 1000)),
        ("openQuotes", json!(numbers.open)),
        ("paid", json!(numbers.paid)),
        ("held", json!(numbers.held)),
        ("failed", json!(numbers.failed)),
        ("unattributed7d", json!(numbers.unmatched)),
        ("lost", json!(numbers.lost)),
        ("unavailableChains", json!(unavailable)),
        ("pausedAssets", json!(paused_assets)),
        ("chains", json!(chains)),
    ]);
    let detail = detail.map(ToOwned::to_owned);
    Ok(ServiceStatus { ok: problem.is_none(), enabled: Some(is_enabled), detail, numbers }.named("payin"))
}

pub async fn counters(cx: PluginContext<Payin>, _: NoInput) -> Result<Counters, HostError> {
    Ok(Counters::stats([("payinsPaid", quotes::count_paid(&cx.db()).await?.into())]))
}

/// Whether quotes can be given at all.
pub async fn health(cx: PluginContext<Payin>, _: NoInput) -> Result<Map<String, Value>, HostError> {
    let has_key = cx.signer(ROLE).configured_address().await?.is_some();
    Ok(members([("payin", json!(has_key && cx.plugin().can_quote()))]))
}

/// The pauses: of everything, and of each chain.
pub async fn controls(cx: PluginContext<Payin>, input: ControlsInput) -> Result<Vec<Control>, HostError> {
    if let Some(press) = input.press {
        set_paused(&cx, press).await?;
    }
    let paused = pauses::list(&cx.db()).await?;
    let control = |name: &str, scope: &str| match paused.iter().find(|(paused, _)| paused == scope) {
        Some((_, reason)) => Control { reason: Some(reason.clone()), ..Control::new(name, "paused", &["resume"]) },
        None => Control::new(name, "running", &["pause"]),
    };
    let chains = cx.plugin().chains.iter().map(|chain| control(&chain.slug, &chain.slug));
    Ok(std::iter::once(control(EVERYTHING, pauses::ALL)).chain(chains).collect())
}

async fn set_paused(cx: &PluginContext<Payin>, press: ControlPress) -> Result<(), HostError> {
    let scope = match cx.plugin().chain(&press.control) {
        Some(chain) => chain.slug.clone(),
        None if press.control == EVERYTHING => pauses::ALL.to_owned(),
        None => return Ok(()),
    };
    let is_pause = press.action == "pause";
    cx.write(async move |tx| match is_pause {
        true => pauses::pause(tx, &scope, ON_THE_PAGE, None).await.map(drop),
        false => pauses::resume(tx, &scope).await,
    })
    .await?;
    cx.wake(PAY_JOB).await
}

fn of_chain(scan: Option<&Scan>, reason: Option<String>) -> Value {
    let mut value = json!({
        "ok": reason.is_none(),
        "lastOkAt": scan.and_then(|scan| scan.last_ok_at),
        "lastErrorAt": scan.and_then(|scan| scan.last_error_at),
        "lastError": scan.and_then(|scan| scan.last_error.as_deref()),
        "consecutiveFailures": scan.map_or(0, |scan| scan.failures),
    });
    if let Some(reason) = reason {
        value["reason"] = json!(reason);
    }
    value
}
