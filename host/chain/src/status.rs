//! The chains in `/api/status`. The rule: a chain is ok when its head moves and all of its signers seal, not when a
//! server responds.

use super::{Chain, chains::Chains};
use gateway_config::MAIN;
use plugin_api::point::ServiceStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A head that is older than this, in seconds, and older than so many block times, is stale.
const HEAD_AGE_MAX_S: i64 = 60;
const HEAD_AGE_MAX_BLOCKS: i64 = 8;

impl Chains {
    /// The services `rpc` and `chain` of each chain; chains other than the main one append `.name`.
    pub fn services(&self, now_s: i64) -> BTreeMap<String, ServiceStatus> {
        let mut services = BTreeMap::new();
        if self.main().is_none() {
            services.insert(
                "rpc".to_owned(),
                unconfigured(json!({ "url": null, "head": null, "chainId": null, "latencyMs": null })),
            );
            let members = json!({ "headAgeS": null, "maxHeadAgeS": HEAD_AGE_MAX_S, "signers": null });
            services.insert("chain".to_owned(), unconfigured(members));
        }
        for chain in self.iter() {
            let key = |service: &str| match chain.name.as_str() {
                MAIN => service.to_owned(),
                name => format!("{service}.{name}"),
            };
            services.insert(key("rpc"), rpc(chain));
            services.insert(key("chain"), progress(chain, now_s));
        }
        services
    }
}

/// The service of a gateway that reads no chain: nothing of the network's agents and jobs is known to it.
fn unconfigured(members: Value) -> ServiceStatus {
    let detail = "no chain is configured: add a section [chains.main]".to_owned();
    ServiceStatus { enabled: Some(false), ..service(false, detail, members) }
}

fn rpc(chain: &Chain) -> ServiceStatus {
    let head = chain.live_head();
    let reports = chain.reports();
    let preferred = reports.iter().find(|report| report.url == chain.preferred_label());
    let failing = reports.iter().filter(|report| !report.ok);
    let failing: Vec<String> = failing
        .map(|report| format!("{}: {}", report.url, report.reason.as_deref().unwrap_or("was not asked yet")))
        .collect();
    let members = json!({
        "url": chain.preferred_label(),
        "head": head.map(|head| head.number),
        "chainId": head.map(|_| chain.chain_id),
        "latencyMs": preferred.and_then(|report| report.latency_ms),
        "servers": reports.len(),
    });
    service(head.is_some(), failing.join("; "), members)
}

fn progress(chain: &Chain, now_s: i64) -> ServiceStatus {
    let max_s = HEAD_AGE_MAX_S.max(i64::from(chain.settings.block_time_s) * HEAD_AGE_MAX_BLOCKS);
    let head_time_s = chain.head().and_then(|head| i64::try_from(head.header.time_s).ok());
    let age_s = head_time_s.map(|head_time_s| now_s.saturating_sub(head_time_s).max(0));
    let is_moving = age_s.is_some_and(|age_s| age_s <= max_s);
    let signers = chain.clique_signers();
    let silent = signers.as_ref().map(|signers| signers.silent.join(", ")).unwrap_or_default();
    let detail = match age_s {
        None => "no block is known yet".to_owned(),
        Some(age_s) if !is_moving => format!("the newest block is {age_s} s old"),
        Some(_) if !silent.is_empty() => format!("these signers seal no blocks: {silent}"),
        Some(_) => String::new(),
    };
    let members = json!({ "headAgeS": age_s, "maxHeadAgeS": max_s, "signers": signers });
    service(is_moving && silent.is_empty(), detail, members)
}

fn service(ok: bool, detail: String, members: Value) -> ServiceStatus {
    let Value::Object(numbers) = members else { return ServiceStatus::default() };
    ServiceStatus { ok, enabled: None, detail: (!detail.is_empty()).then_some(detail), numbers }
}
