//! Contributions to extension points.

use crate::{
    Aicv, routes,
    store::{documents, endorsements},
};
use plugin_api::{
    HostError, PluginContext,
    point::{Counters, NoInput, ServiceStatus},
};
use serde_json::json;
use std::collections::BTreeMap;

pub async fn counters(cx: PluginContext<Aicv>, _: NoInput) -> Result<Counters, HostError> {
    Ok(Counters::stats([("endorsements", endorsements::count_live(&cx.db()).await?.into())]))
}

pub async fn status(cx: PluginContext<Aicv>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (issued, kept) = documents::count(&cx.db()).await?;
    let signer = cx.signer(routes::SIGNER).address().await?;
    let numbers = [("issued", issued.into()), ("documents", kept.into()), ("signer", json!(signer))];
    Ok(ServiceStatus::new(true, "", numbers).named("aicv"))
}
