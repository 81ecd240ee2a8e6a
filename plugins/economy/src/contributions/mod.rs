//! Contributions of the economy to extension points.

mod cv;

pub use cv::cv_claims;

use crate::{
    Economy,
    model::{
        StreamStatus,
        contracts::{ARBITER_POOL, STREAM_PAY, TOKEN_FACTORY},
    },
    store::{accounts::accounts, disputes::disputes, streams::streams, subs::subs, tokens::tokens},
};
use plugin_api::{
    HostError, PluginContext,
    contracts::account_factory,
    point::{Counters, NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub async fn counters(cx: PluginContext<Economy>, _: NoInput) -> Result<Counters, HostError> {
    Ok(Counters { stats: counts(&cx).await?, ..Counters::default() })
}

async fn counts(cx: &PluginContext<Economy>) -> Result<Map<String, Value>, HostError> {
    let (db, now_s) = (cx.db(), cx.now_s());
    let counts = [
        ("streamsOpen", streams(None, None, Some(StreamStatus::Open), now_s).count(&db).await?),
        ("subsActive", subs(None, None, Some(now_s)).count(&db).await?),
        ("casesOpen", disputes(None, Some(true), None, None).count(&db).await?),
        ("tokensLaunched", tokens(None).count(&db).await?),
        ("accountsCreated", accounts(None).count(&db).await?),
    ];
    Ok(members(counts.map(|(name, count)| (name, count.into()))))
}

/// The contracts whose records this plugin serves.
const CONTRACTS: [&str; 4] = [STREAM_PAY, ARBITER_POOL, TOKEN_FACTORY, account_factory::CONTRACT];

/// Whether the tables can be read, and the contracts that they cover. The progress is part of the index's own status.
pub async fn status(cx: PluginContext<Economy>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let deployed: Vec<&str> = CONTRACTS.into_iter().filter(|key| cx.environment().contract(key).is_some()).collect();
    let is_enabled = !deployed.is_empty();
    let mut numbers = counts(&cx).await?;
    numbers.insert("contracts".to_owned(), json!(deployed));
    let detail = (!is_enabled).then(|| "none of its contracts is deployed".to_owned());
    let status = ServiceStatus { ok: true, enabled: Some(is_enabled), detail, numbers };
    Ok(BTreeMap::from([("economy".to_owned(), status)]))
}
