//! `GET /api/status`: every service with numbers. The rule: a service that cannot say how it is counts as not ok, and one
//! plugin cannot speak for another or for the gateway.

use super::{Facts, routes};
use plugin_api::point::{Counters, ServiceStatus};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What the caller knows about this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub started_s: i64,
    pub head: Option<u64>,
    pub indexed_block: Option<u64>,
}

/// State of every service.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether no service is degraded.
    pub ok: bool,
    pub version: String,
    pub now: i64,
    pub uptime_s: i64,
    pub chain_id: Option<u64>,
    pub head: Option<u64>,
    pub indexed_block: Option<u64>,
    /// Blocks between head and index.
    pub head_lag: Option<u64>,
    pub indexer_lag_seconds: Option<u64>,
    /// Names of the services that are not ok.
    pub degraded: Vec<String>,
    #[schemars(with = "BTreeMap<String, ServiceShape>")]
    pub services: BTreeMap<String, ServiceStatus>,
    pub links: Links,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "StatusLinks")]
pub struct Links {
    /// For people.
    pub page: String,
    pub health: String,
    pub stats: String,
    pub changelog: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
}

/// How a [`ServiceStatus`] looks on the wire.
#[derive(JsonSchema)]
#[schemars(rename = "ServiceStatus", extend("additionalProperties" = true))]
#[allow(dead_code, reason = "only its schema is used")]
struct ServiceShape {
    /// Whether it makes progress, not whether it is up.
    ok: bool,
    #[schemars(with = "bool")]
    #[serde(skip_serializing_if = "absent")]
    enabled: bool,
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "absent")]
    detail: String,
}

/// A plugin's contribution to the point `status`; an error when it did not answer.
pub type Contribution = (String, Result<BTreeMap<String, ServiceStatus>, ()>);

pub fn status(facts: &Facts<'_>, moment: Moment, services: BTreeMap<String, ServiceStatus>) -> Status {
    let degraded: Vec<_> = services.iter().filter(|(_, service)| !service.ok).map(|(name, _)| name.clone()).collect();
    let head_lag = moment.head.zip(moment.indexed_block).map(|(head, indexed)| head.saturating_sub(indexed));
    let mut endpoints = facts.endpoints();
    Status {
        ok: degraded.is_empty(),
        version: facts.environment.gateway_version.clone(),
        now: facts.now_s,
        uptime_s: facts.now_s.saturating_sub(moment.started_s).max(0),
        chain_id: Some(facts.environment.chain_id),
        head: moment.head,
        indexed_block: moment.indexed_block,
        head_lag,
        indexer_lag_seconds: head_lag.map(|blocks| blocks.saturating_mul(facts.chain.block_time_s.into())),
        degraded,
        services,
        links: Links {
            page: facts.web.map_or_else(|| facts.url(routes::DOCS), str::to_owned),
            health: endpoints.remove("health").unwrap_or_default(),
            stats: endpoints.remove("stats").unwrap_or_default(),
            changelog: facts.url(routes::CHANGELOG),
            work: endpoints.remove("work"),
        },
    }
}

/// The gateway's own services, then those of the plugins. A name that is taken gets its plugin's name in front.
pub fn merge(
    own: BTreeMap<String, ServiceStatus>,
    contributions: impl IntoIterator<Item = Contribution>,
) -> BTreeMap<String, ServiceStatus> {
    let mut services = own;
    for (plugin, answer) in contributions {
        let contributed = answer.unwrap_or_else(|()| BTreeMap::from([(plugin.clone(), silent())]));
        for (name, service) in contributed {
            let name = if services.contains_key(&name) { format!("{plugin}.{name}") } else { name };
            services.insert(name, service);
        }
    }
    services
}

fn silent() -> ServiceStatus {
    ServiceStatus { detail: Some("did not say how it is".into()), ..Default::default() }
}

/// The service `db`: ok when its size could be read.
pub fn database(size_bytes: Option<u64>, activity_events: Option<u64>) -> ServiceStatus {
    let numbers = Map::from_iter([
        ("sizeBytes".to_owned(), json!(size_bytes)),
        ("activity".to_owned(), activity_events.map_or(Value::Null, Value::from)),
    ]);
    ServiceStatus { ok: size_bytes.is_some(), numbers, ..Default::default() }
}

/// Adds to the service `db` how many agents and jobs there are, when a plugin counts them.
pub fn count_records(database: &mut ServiceStatus, counters: &Counters) {
    for name in ["agents", "jobs"] {
        if let Some(count) = counters.stats.get(name) {
            database.numbers.insert(name.to_owned(), count.clone());
        }
    }
}

/// Name and value of the header that repeats `degraded`; none while all is well.
pub fn degraded_header(status: &Status, header_prefix: &str) -> Option<(String, String)> {
    let visible = |name: &String| -> String { name.chars().filter(|c| c.is_ascii_graphic() && *c != ',').collect() };
    let names: Vec<_> = status.degraded.iter().map(visible).collect();
    (!names.is_empty()).then(|| (format!("{header_prefix}-Degraded"), names.join(",")))
}
