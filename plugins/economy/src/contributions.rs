//! Contributions of the economy to extension points.

use crate::{
    Economy,
    model::{
        StreamStatus,
        contracts::{ACCOUNT_FACTORY, ARBITER_POOL, STREAM_PAY, TOKEN_FACTORY},
    },
    store::{accounts::accounts, disputes::disputes, streams::streams, subs::subs, tokens::tokens},
};
use plugin_api::{
    Hash256, HostError, PluginContext,
    point::{Counters, NoInput, PayloadReferencesInput, ServiceStatus, members},
    referenced_payloads,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

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
const CONTRACTS: [&str; 4] = [STREAM_PAY, ARBITER_POOL, TOKEN_FACTORY, ACCOUNT_FACTORY];

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

/// Texts that may reference payloads, in pages by an integer key.
const TEXTS: [&str; 3] = [
    "SELECT id, evidence_uri FROM economy_disputes WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT id, uri FROM economy_evidence WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT id, metadata_uri FROM economy_plans WHERE id > $1 ORDER BY id LIMIT 1000",
];

/// Payloads that evidence and plans reference.
pub async fn payload_references(
    cx: PluginContext<Economy>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let mut referenced = BTreeSet::new();
    for page in TEXTS {
        referenced.extend(referenced_payloads(&db, &candidates, page).await?);
    }
    Ok(referenced)
}
