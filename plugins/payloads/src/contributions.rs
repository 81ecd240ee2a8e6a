//! Contributions of the payload store to extension points.

use crate::{
    Payloads,
    jobs::{Deadlines, INTERVAL_S},
    model::SIZE_MAX,
    store::{payloads, pruning},
};
use plugin_api::{
    HostError, PluginContext,
    point::{NoInput, ServiceStatus, members},
};
use std::collections::BTreeMap;

pub async fn status(cx: PluginContext<Payloads>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (db, config) = (cx.db(), &cx.plugin().config);
    let totals = payloads::totals(&db).await?;
    let is_full = totals.bytes.saturating_add(SIZE_MAX) > config.total_bytes_max;
    // Late by two runs: payloads also wait while a plugin is switched off, which is no fault.
    let deadlines = Deadlines::at(cx.now_s() - 2 * INTERVAL_S, config.keep_days);
    let waits = !totals.waits_for.is_empty();
    let is_late = !waits
        && (!pruning::unreferenced(&db, deadlines.unreferenced_until_s, 1).await?.is_empty()
            || !pruning::marked(&db, deadlines.marked_until_s, 1).await?.is_empty());
    let detail = if is_full {
        Some("the store is full".to_owned())
    } else if is_late {
        Some("old payloads are not deleted in time".to_owned())
    } else {
        waits.then(|| format!("nothing is deleted until these plugins answer: {}", totals.waits_for))
    };
    let numbers = members([
        ("payloads", totals.payloads.into()),
        ("bytes", totals.bytes.into()),
        ("bytesMax", config.total_bytes_max.into()),
    ]);
    Ok([("payloads".to_owned(), ServiceStatus { ok: !is_full && !is_late, enabled: None, detail, numbers })].into())
}
