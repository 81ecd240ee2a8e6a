//! What the plugin contributes to extension points.

use crate::Rpc;
use plugin_api::{
    HostError, PluginContext,
    point::{Discovery, NoInput, ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Not ok while every place is taken: then further requests are refused.
pub async fn status(cx: PluginContext<Rpc>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let Rpc { config, clients, answers } = cx.plugin();
    let in_flight = clients.in_flight();
    let numbers = [
        ("inFlight", in_flight.into()),
        ("inFlightMax", config.requests_max.into()),
        ("cachedBytes", answers.bytes().into()),
        ("cachedBytesMax", config.cache_bytes.into()),
    ];
    Ok(ServiceStatus::new(in_flight < config.requests_max, "too many requests wait for the chain", numbers)
        .named("publicRpc"))
}

pub async fn discovery(cx: PluginContext<Rpc>, _: NoInput) -> Result<Discovery, HostError> {
    let config = &cx.plugin().config;
    let limits = json!({
        "rpcWeightPerMinute": config.weight_per_minute,
        "rpcBatchCalls": config.batch_max,
        "rpcLogBlocks": config.log_blocks_max,
        "rpcCallGas": config.call_gas_max,
    });
    Ok(Discovery { manifest: members([("limits", limits)]), ..Discovery::default() })
}
