//! The oracle's key, and its status.

use crate::{Agents, store::oracle};
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext,
    chain::MAIN as MAIN_CHAIN,
    point::{ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

/// Role of the key that requests validations.
pub const ROLE: &str = "oracle";

/// The address of the oracle's key; `None` without a key.
pub async fn address(cx: &PluginContext<Agents>) -> Result<Option<Address>, HostError> {
    cx.signer(ROLE).configured_address().await
}

/// Not ok while its queue is blocked; without a key it is off.
pub async fn status(cx: &PluginContext<Agents>) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let contract = |key| cx.environment().contract(key).is_some();
    let is_deployed = contract("identity8004") && contract("validation8004");
    let address = address(cx).await?;
    let queue = match address {
        Some(_) => cx.nonce_queue(ROLE, MAIN_CHAIN).await.map(Some),
        None => Ok(None),
    };
    let queue = match queue {
        Err(error) if error.is(HostErrorCode::Disabled) => None,
        other => other?,
    };
    let blocked = queue.as_ref().and_then(|queue| queue.reason.clone());
    let off = match (address, is_deployed) {
        (None, _) => Some("the role oracle has no key: no validation is requested"),
        (_, false) => Some("identity8004 and validation8004 are not both deployed: no validation is requested"),
        _ => None,
    };
    let numbers = members([
        ("address", json!(address)),
        ("requestedToday", json!(oracle::today(&cx.db(), cx.now_s()).await?)),
        ("queued", json!(queue.map_or(0, |queue| queue.queued + queue.pending))),
    ]);
    let (ok, enabled) = (blocked.is_none(), Some(off.is_none()));
    let detail = blocked.or(off.map(ToOwned::to_owned));
    Ok(ServiceStatus { ok, enabled, detail, numbers }.named("oracle"))
}
