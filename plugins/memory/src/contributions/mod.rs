//! Contributions of the memory to extension points: sums only.

mod cv;

pub use cv::cv_claims;

use crate::{
    Memory,
    limits::VALUE_BYTES_MAX,
    model::RECORD_BYTES,
    store::{anchors, limits, resealing, sealed},
};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, Discovery, NoInput, ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

pub async fn counters(cx: PluginContext<Memory>, _: NoInput) -> Result<Counters, HostError> {
    let db = cx.db();
    let totals = limits::totals(&db).await?;
    Ok(Counters::stats([
        ("memoryBytes", totals.value_bytes.into()),
        ("memoryRecords", totals.record_count.into()),
        ("memoryAnchored", anchors::count(&db).await?.into()),
    ]))
}

pub async fn status(cx: PluginContext<Memory>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let db = cx.db();
    let (bytes, bytes_max) = (limits::totals(&db).await?.bytes(), cx.plugin().config.total_bytes);
    let stale = resealing::count_stale(&db, &sealed::key_id(&cx).await?).await?;
    let has_room = bytes.saturating_add(VALUE_BYTES_MAX + RECORD_BYTES) <= bytes_max;
    let numbers = [("bytes", bytes.into()), ("bytesMax", bytes_max.into()), ("rowsOfOldKeys", stale.into())];
    Ok(ServiceStatus::new(has_room, "the memory is full", numbers).named("memory"))
}

pub async fn discovery(cx: PluginContext<Memory>, _: NoInput) -> Result<Discovery, HostError> {
    let limits = json!({ "memoryFreeBytes": cx.plugin().config.free_bytes });
    Ok(Discovery { manifest: members([("limits", limits)]), ..Discovery::default() })
}
