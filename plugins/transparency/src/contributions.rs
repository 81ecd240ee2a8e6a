//! Contributions of the log to extension points: its keys, its size, and whether it goes on.

use crate::{
    Transparency,
    model::SignatureType,
    store::{
        origins, publications,
        published::{self, Log},
    },
};
use plugin_api::{
    HostError, PluginContext,
    point::{Discovery, NoInput, ServiceStatus, members},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub async fn status(cx: PluginContext<Transparency>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let (size, signed_at, problem) = match published::look(&cx).await? {
        Log::Signed(origin) | Log::Unsigned(origin) => (origin.newest.size, origin.signed_at, None),
        Log::New(_) => (0, None, None),
        Log::Stopped(reason) => (0, None, Some(reason)),
    };
    let published = publications::last(&cx.db()).await?;
    let transaction = match &published {
        Some(published) => cx.intent_status(published.intent_id).await?,
        None => None,
    };
    let numbers = [
        ("size", size.into()),
        ("signedAt", signed_at.into()),
        ("publishedSize", published.map(|published| published.size).into()),
        ("publishedTx", json!(transaction.and_then(|transaction| transaction.hash))),
    ];
    let reason = problem.as_deref().unwrap_or_default();
    Ok(ServiceStatus::new(problem.is_none(), reason, numbers).named("transparencyLog"))
}

/// Probes of every gateway ask for it: so each keeps the newest checkpoint outside of the database, and finds what contradicts it,
/// also when nobody reads the log there.
pub async fn health(cx: PluginContext<Transparency>, _: NoInput) -> Result<Map<String, Value>, HostError> {
    let log = match published::check(&cx).await? {
        Log::Signed(origin) | Log::Unsigned(origin) => json!({ "ok": true, "size": origin.newest.size }),
        Log::New(_) => json!({ "ok": true, "size": 0 }),
        Log::Stopped(reason) => json!({ "ok": false, "reason": reason }),
    };
    Ok(members([("transparencyLog", log)]))
}

pub async fn discovery(cx: PluginContext<Transparency>, _: NoInput) -> Result<Discovery, HostError> {
    let Some(origin) = origins::present(&cx.db()).await? else { return Ok(Discovery::default()) };
    let (key, base_url) = (origin.key(), &cx.environment().base_url);
    let log = json!({
        "origin": origin.newest.origin,
        "prefix": format!("{base_url}/api/log"),
        "publicKey": key.verifier_key(SignatureType::Note),
        "cosignatureKey": key.verifier_key(SignatureType::Cosignature),
        "previous": cx.plugin().config.previous,
    });
    Ok(Discovery { manifest: members([("log", log)]), ..Discovery::default() })
}
