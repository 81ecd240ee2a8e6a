//! `GET /api/status`: every service with numbers. The rule: a service whose status cannot be read counts as not ok, and a
//! plugin cannot report for another one or for the gateway.

use crate::{document_context::DocumentContext, paths};
use plugin_api::point::{Counters, ServiceStatus};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The state of the process and its chain when the response is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeState {
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
    #[schemars(with = "BTreeMap<String, ServiceStatusSchema>")]
    pub services: BTreeMap<String, ServiceStatus>,
    pub links: StatusLinks,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusLinks {
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
struct ServiceStatusSchema {
    /// Whether it makes progress, not whether it is up.
    ok: bool,
    #[schemars(with = "bool")]
    #[serde(skip_serializing_if = "absent")]
    enabled: bool,
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "absent")]
    detail: String,
}

/// A plugin's contribution to the point `status`; an error when it did not respond.
pub type StatusContribution = (String, Result<BTreeMap<String, ServiceStatus>, ()>);

pub fn status(context: &DocumentContext<'_>, state: RuntimeState, services: BTreeMap<String, ServiceStatus>) -> Status {
    let degraded: Vec<_> = services.iter().filter(|(_, service)| !service.ok).map(|(name, _)| name.clone()).collect();
    let head_lag = state.head.zip(state.indexed_block).map(|(head, indexed)| head.saturating_sub(indexed));
    let mut endpoints = context.endpoints();
    Status {
        ok: degraded.is_empty(),
        version: context.environment.gateway_version.clone(),
        now: context.now_s,
        uptime_s: context.now_s.saturating_sub(state.started_s).max(0),
        chain_id: Some(context.environment.chain_id),
        head: state.head,
        indexed_block: state.indexed_block,
        head_lag,
        indexer_lag_seconds: head_lag.map(|blocks| blocks.saturating_mul(context.chain.block_time_s.into())),
        degraded,
        services,
        links: StatusLinks {
            page: context.web.map_or_else(|| context.url(paths::DOCS), str::to_owned),
            health: endpoints.remove("health").unwrap_or_default(),
            stats: endpoints.remove("stats").unwrap_or_default(),
            changelog: context.url(paths::CHANGELOG),
            work: endpoints.remove("work"),
        },
    }
}

/// The gateway's services, then those of the plugins. A plugin's service whose name is in use gets the plugin's name as prefix.
pub fn merge_services(
    gateway: BTreeMap<String, ServiceStatus>,
    contributions: impl IntoIterator<Item = StatusContribution>,
) -> BTreeMap<String, ServiceStatus> {
    let mut services = gateway;
    for (plugin, contribution) in contributions {
        let contributed = contribution.unwrap_or_else(|()| BTreeMap::from([(plugin.clone(), unresponsive())]));
        for (name, service) in contributed {
            let name = if services.contains_key(&name) { format!("{plugin}.{name}") } else { name };
            services.insert(name, service);
        }
    }
    services
}

fn unresponsive() -> ServiceStatus {
    ServiceStatus { detail: Some("did not say how it is".into()), ..Default::default() }
}

/// The service `db`: ok when its size could be read and it keeps writes; `problem` says why it does not.
pub fn database_service(
    size_bytes: Option<u64>,
    activity_events: Option<u64>,
    problem: Option<String>,
) -> ServiceStatus {
    let numbers = Map::from_iter([
        ("sizeBytes".to_owned(), json!(size_bytes)),
        ("activity".to_owned(), activity_events.map_or(Value::Null, Value::from)),
    ]);
    ServiceStatus { ok: size_bytes.is_some() && problem.is_none(), detail: problem, numbers, ..Default::default() }
}

/// Adds the numbers of agents and jobs to the service `db`, if a plugin counts them.
pub fn add_record_counts(database: &mut ServiceStatus, counters: &Counters) {
    for name in ["agents", "jobs"] {
        if let Some(count) = counters.stats.get(name) {
            database.numbers.insert(name.to_owned(), count.clone());
        }
    }
}

/// Name and value of the header that repeats `degraded`; `None` while every service is ok.
pub fn degraded_header(status: &Status, header_prefix: &str) -> Option<(String, String)> {
    let header_text =
        |name: &String| -> String { name.chars().filter(|c| c.is_ascii_graphic() && *c != ',').collect() };
    let names: Vec<_> = status.degraded.iter().map(header_text).collect();
    (!names.is_empty()).then(|| (format!("{header_prefix}-Degraded"), names.join(",")))
}
