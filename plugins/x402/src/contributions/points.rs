//! Counters, the status of the facilitator, and what manifest and agent card say about payments.

use super::facilitator::{facilitator, vault_address};
use crate::{
    X402,
    store::{derived, vouchers},
};
use plugin_api::{
    HostError, PluginContext, Wei,
    point::{Counters, Discovery, NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A batch that is on its way for longer, or a voucher that waits for longer, is reported.
const AGE_MAX_S: i64 = 600;

pub async fn counters(cx: PluginContext<X402>, _: NoInput) -> Result<Counters, HostError> {
    let totals = derived::totals(&cx.db()).await?;
    let queue = vouchers::queue(&cx.db()).await?;
    Ok(Counters::stats([
        ("x402VolumeWei", totals.volume.to_string().into()),
        ("x402Settlements", totals.settled_count.into()),
        ("x402Pending", (queue.queued + queue.submitted).into()),
    ]))
}

pub async fn status(cx: PluginContext<X402>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (account, vault, now_s) = (facilitator(&cx).await?, vault_address(&cx), cx.now_s());
    let queue = vouchers::queue(&cx.db()).await?;
    let age = |since: Option<i64>| since.map(|since| (now_s - since).max(0));
    let (queued_age_s, submitted_age_s) = (age(queue.oldest_queued_at), age(queue.oldest_submitted_at));
    let is_old = |age: Option<i64>| age.is_some_and(|age| age > AGE_MAX_S);
    let is_enabled = vault.is_some() && account.address.is_some();
    let problem = match is_enabled {
        false => None,
        true if is_old(queued_age_s) || is_old(submitted_age_s) => Some("vouchers are not settled in time"),
        true if account.is_low() => Some("the facilitator has less than 0.1 FMX for gas"),
        true if account.balance.is_none() => Some("the facilitator's balance cannot be read"),
        true => None,
    };
    let detail = match (problem, is_enabled) {
        (Some(problem), _) => Some(problem.to_owned()),
        (None, true) => None,
        (None, false) if vault.is_none() => Some("no vault is deployed".to_owned()),
        (None, false) => Some("the role facilitator has no key".to_owned()),
    };
    let numbers = members([
        ("address", json!(account.address)),
        ("balanceFmx", json!(account.balance.map(Wei::in_coins))),
        ("lowFunds", json!(account.is_low())),
        ("queued", json!(queue.queued)),
        ("submitted", json!(queue.submitted)),
        ("oldestQueuedAgeS", json!(queued_age_s)),
        ("oldestSubmittedAgeS", json!(submitted_age_s)),
        ("batchMs", json!(u64::from(cx.plugin().config.batch_s) * 1000)),
        ("vault", json!(vault)),
    ]);
    let status = ServiceStatus { ok: problem.is_none(), enabled: Some(is_enabled), detail, numbers };
    Ok(BTreeMap::from([("facilitator".to_owned(), status)]))
}

/// For `/api/health`.
pub async fn health(cx: PluginContext<X402>, _: NoInput) -> Result<Map<String, Value>, HostError> {
    let account = facilitator(&cx).await?;
    Ok(members([
        ("facilitator", json!(account.address)),
        ("facilitatorBalance", json!(account.balance)),
        ("facilitatorLowFunds", json!(account.is_low())),
        ("x402Queued", json!(vouchers::queue(&cx.db()).await?.queued)),
    ]))
}

/// How to pay, for programs that read the manifest or the card.
pub async fn discovery(cx: PluginContext<X402>, _: NoInput) -> Result<Discovery, HostError> {
    let (names, base_url) = (&cx.plugin().names, &cx.environment().base_url);
    let url = |path: &str| format!("{base_url}/api/x402/{path}");
    let x402 = json!({
        "scheme": names.scheme,
        "network": names.network,
        "asset": names.asset,
        "supported": url("supported"),
        "verify": url("verify"),
        "settle": url("settle"),
        "domain": names.domain(vault_address(&cx)),
    });
    let scheme = format!("x402-{}", cx.environment().brand.marker);
    Ok(Discovery {
        manifest: members([("x402", x402)]),
        card: members([("authentication", json!({ "schemes": [scheme] }))]),
    })
}
