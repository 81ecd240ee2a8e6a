//! The service `faucet` of `/api/status`.

use crate::{Faucet, chain::relayer, model::Budget, store};
use plugin_api::{
    Address, HostError, PluginContext, Wei,
    chain::MAIN,
    point::{NoInput, ServiceStatus, members},
};
use serde_json::json;
use std::collections::BTreeMap;

pub async fn status(cx: PluginContext<Faucet>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (config, now_s) = (&cx.plugin().config, cx.now_s());
    let used = store::used(&cx.db(), now_s).await?;
    let remaining = (config.per_day - used).max(0);
    let account = relayer(&cx).await?;
    let funded = match &account {
        Ok(from) => drips_funded(&cx, *from).await?,
        Err(_) => None,
    };
    let detail = match &account {
        Err(reason) => Some(reason.clone()),
        Ok(_) if remaining == 0 => Some("the day's budget is used up".to_owned()),
        Ok(_) if funded == Some(0) => Some("the account is at its reserve".to_owned()),
        Ok(_) => None,
    };
    let numbers = members([
        ("dripFmx", json!(config.drip_wei.in_coins())),
        ("usedToday", json!(used)),
        ("remainingToday", json!(remaining)),
        ("allowedByNow", json!(Budget::at(config, now_s).allowed())),
        ("dripsFunded", json!(funded)),
        ("relayerReserveFmx", json!(config.reserve_wei.in_coins())),
    ]);
    let status = ServiceStatus { ok: detail.is_none(), enabled: Some(account.is_ok()), detail, numbers };
    Ok(BTreeMap::from([("faucet".to_owned(), status)]))
}

/// How many drips the account can pay above its reserve; `None` while the chain cannot be read.
async fn drips_funded(cx: &PluginContext<Faucet>, from: Address) -> Result<Option<u64>, HostError> {
    let config = &cx.plugin().config;
    let balance = match cx.chain(MAIN).balance(from, None).await {
        Ok(balance) => balance,
        Err(error) if error.is_transient() => return Ok(None),
        Err(error) => return Err(error),
    };
    let outstanding = store::outstanding(&cx.db(), cx.now_s()).await?;
    let recorded = config.drip_wei.saturating_mul(outstanding.unsigned_abs());
    let Wei(left) = balance.saturating_sub(config.reserve_wei).saturating_sub(recorded);
    Ok(left.checked_div(config.drip_wei.0).map(|drips| u64::try_from(drips).unwrap_or(u64::MAX)))
}
