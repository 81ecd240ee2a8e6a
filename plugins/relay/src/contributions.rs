//! The service `relayer` of `/api/status`, its address in `/api/health`, and limits in the manifest.

use crate::{
    Relay,
    chain::{deployment, relayer},
    model::ACCOUNT_IMPL,
    store::caps,
};
use plugin_api::{
    HostError, PluginContext, Wei,
    chain::MAIN,
    point::{Discovery, NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Below 0.1 FMX the operator is warned.
const LOW_FUNDS_WEI: u64 = 100_000_000_000_000_000;

pub async fn status(cx: PluginContext<Relay>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let address = relayer(&cx).await?.ok();
    let balance = match address {
        None => None,
        Some(address) => match cx.chain(MAIN).balance(address, None).await {
            Ok(balance) => Some(balance),
            Err(error) if error.is_transient() => None,
            Err(error) => return Err(error),
        },
    };
    let is_low = balance.is_some_and(|balance| balance < Wei::from(LOW_FUNDS_WEI));
    let off = deployment(&cx).await?.err();
    let problem = match (&off, address) {
        (_, None) => None,
        _ if is_low => Some("the relayer has less than 0.1 FMX for gas".to_owned()),
        _ if balance.is_none() => Some("the relayer's balance cannot be read".to_owned()),
        _ => None,
    };
    let numbers = members([
        ("address", json!(address)),
        ("balanceFmx", json!(balance.map(Wei::in_coins))),
        ("lowFunds", json!(is_low)),
        ("relaysToday", json!(caps::calls_used(&cx.db(), cx.now_s()).await?)),
        ("accountImpl", json!(cx.environment().contract(ACCOUNT_IMPL))),
    ]);
    let (ok, enabled) = (problem.is_none(), off.is_none());
    let status = ServiceStatus { ok, enabled: Some(enabled), detail: problem.or(off), numbers };
    Ok(BTreeMap::from([("relayer".to_owned(), status)]))
}

/// Member of `/api/health`.
pub async fn health(cx: PluginContext<Relay>, _: NoInput) -> Result<Map<String, Value>, HostError> {
    Ok(members([("relayer", json!(relayer(&cx).await?.ok()))]))
}

/// The limit that depends on the configuration.
pub async fn discovery(cx: PluginContext<Relay>, _: NoInput) -> Result<Discovery, HostError> {
    let limits = json!({ "relaysPerAccountPerDay": cx.plugin().config.account_per_day });
    Ok(Discovery { manifest: members([("limits", limits)]), ..Discovery::default() })
}
