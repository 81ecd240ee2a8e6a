//! What the plugin contributes to extension points.

use crate::A2a;
use plugin_api::{
    HostError, PluginContext,
    point::{NoInput, ServiceStatus},
};
use std::collections::BTreeMap;

/// Calls that wait for agents now. Not ok while every place is taken: then further calls are refused.
pub async fn status(cx: PluginContext<A2a>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (waiting, max) = (cx.plugin().calls.count(), cx.plugin().config.calls_max);
    let numbers = [("inFlight", waiting.into()), ("inFlightMax", max.into())];
    Ok(ServiceStatus::new(waiting < max, "too many calls wait for agents", numbers).named("a2a"))
}
