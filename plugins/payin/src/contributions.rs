//! The status of pay-in, in words for everybody: reasons of errors and pauses are the operators'.

use crate::{
    Payin, ROLE,
    jobs::{pay, scan::INTERVAL_S},
    routes::PAUSED,
    store::{
        pauses, prices, quotes,
        scans::{self, Scan},
    },
};
use plugin_api::{
    HostError, PluginContext,
    point::{NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const WEEK_S: i64 = 7 * 86_400;

pub async fn status(cx: PluginContext<Payin>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (plugin, db, now_s) = (cx.plugin(), cx.db(), cx.now_s());
    let (hot_wallet, _) = pay::account(&cx).await?;
    let is_enabled = hot_wallet.is_some() && plugin.can_quote();
    let numbers = quotes::numbers(&db, now_s - WEEK_S).await?;
    let (scans, paused) = (scans::all(&db).await?, pauses::list(&db).await?);
    let (mut chains, mut unavailable) = (BTreeMap::new(), Vec::new());
    for chain in &plugin.chains {
        let scan = scans.get(&chain.slug);
        let is_paused = paused.iter().any(|(scope, _)| scope == pauses::ALL || *scope == chain.slug);
        let reason = Scan::unavailable(scan, now_s).or(is_paused.then(|| PAUSED.to_owned()));
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

/// Whether quotes can be given at all.
pub async fn health(cx: PluginContext<Payin>, _: NoInput) -> Result<Map<String, Value>, HostError> {
    let has_key = cx.signer(ROLE).configured_address().await?.is_some();
    Ok(members([("payin", json!(has_key && cx.plugin().can_quote()))]))
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
