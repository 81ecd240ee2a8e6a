//! What the plugin contributes to extension points.

use crate::{Supply, routes::is_fresh, store};
use plugin_api::{
    HostError, PluginContext,
    point::{NoInput, ServiceStatus},
};
use std::collections::BTreeMap;

/// Not ok while the snapshot that is served is an old one.
pub async fn status(cx: PluginContext<Supply>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let Some(plan) = &cx.plugin().plan else {
        return Ok(ServiceStatus { enabled: Some(false), ..ServiceStatus::new(true, "", []) }.named("supply"));
    };
    let db = cx.db();
    let snapshot = store::snapshot(&db).await?;
    let counted = store::newest(&db, &plan.origin()).await?;
    let is_ok = snapshot.as_ref().is_none_or(|snapshot| is_fresh(snapshot.computed_at, cx.now_ms()));
    let numbers = [
        ("asOfBlock", snapshot.as_ref().map(|snapshot| snapshot.as_of_block).into()),
        ("computedAt", snapshot.as_ref().map(|snapshot| snapshot.computed_at).into()),
        ("burnCountedThrough", counted.map(|position| position.block).into()),
    ];
    let status = ServiceStatus::new(is_ok, "no new snapshot can be taken: the last one is served", numbers);
    Ok(ServiceStatus { enabled: Some(true), ..status }.named("supply"))
}
