//! Contributions of the webhooks to extension points.

mod audit;

pub use audit::audit_lines;

use crate::{
    Webhooks,
    model::{DAY_S, EVENTS},
    store::{deliveries, endpoints, sealed},
};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, Discovery, NoInput, ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

/// More waiting deliveries mean that the gateway does not keep up.
const PENDING_MAX: i64 = 500;
/// How often the queue looks for what is due when nothing wakes it: half a second.
const TICK_MS: i64 = 500;

pub async fn counters(cx: PluginContext<Webhooks>, _: NoInput) -> Result<Counters, HostError> {
    Ok(Counters::stats([("webhooks", endpoints::count_active(&cx.db()).await?.into())]))
}

pub async fn status(cx: PluginContext<Webhooks>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let db = cx.db();
    let totals = deliveries::totals(&db, cx.now_s() - DAY_S).await?;
    let numbers = [
        ("active", endpoints::count_active(&db).await?.into()),
        ("pending", totals.pending.into()),
        ("failed24h", totals.failed.into()),
        ("tickMs", TICK_MS.into()),
        ("rowsOfOldKeys", endpoints::count_stale(&db, &sealed::key_id(&cx).await?).await?.into()),
    ];
    Ok(ServiceStatus::new(totals.pending < PENDING_MAX, "many deliveries wait", numbers).named("webhooks"))
}

pub async fn discovery(_: PluginContext<Webhooks>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery { manifest: members([("webhookEvents", json!(EVENTS))]), ..Discovery::default() })
}
