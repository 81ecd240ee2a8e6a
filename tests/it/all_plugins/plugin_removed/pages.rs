//! The pages that combine all plugins, and the page of each record, without members that depend on the time.

use crate::all_plugins::calls::calls;
use plugin_testing::{TestGateway, Value};
use std::{collections::BTreeMap, time::Duration};

/// Longer than a leaderboard is cached.
const KEPT: Duration = Duration::from_secs(6);
/// Members that hold the time of the request.
const TIMES: [&str; 4] = ["now", "generatedAt", "since30d", "uptimeS"];
/// Pages that depend on the time or on random numbers, hash what all plugins say, or are drawn by a job.
const MOMENTARY: [&str; 15] = [
    "get_status",
    "get_health",
    "get_waitlist_challenge",
    "get_agent_audit",
    "get_cv",
    "get_cv_credential",
    "get_cv_verification",
    "get_cv_badge",
    "get_loadtest_stats",
    "get_loadtest_manifest",
    "get_log_checkpoint",
    "get_market",
    "get_network_graph",
    "get_log_tile",
    "get_log_entries",
];

/// A page that is not there is `null`.
#[derive(Clone, Debug)]
pub struct Pages {
    pub index: Value,
    pub openapi: Value,
    pub card: Value,
    pub manifest: Value,
    pub stats: Value,
    pub work: Value,
    pub leaderboard: Value,
    pub llms: Value,
    /// Services of `/api/status`, by name.
    pub services: Vec<String>,
    /// Every other page that anyone can read, by operation.
    pub records: BTreeMap<&'static str, Value>,
}

impl Pages {
    pub async fn read(gateway: &TestGateway) -> Self {
        gateway.clock().advance(KEPT).await;
        let page = async |path: &str| read(gateway, path, 200).await;
        let status = page("/api/status").await;
        let mut records = BTreeMap::new();
        for call in calls(gateway.now_s()).into_iter().filter(|call| call.method == "GET" && call.signer.is_none()) {
            let is_told_otherwise = MOMENTARY.contains(&call.operation) || call.operation.starts_with("stream_");
            // The documents are pages of their own below.
            if !is_told_otherwise && call.path.starts_with("/api/") && !is_document(&call.path) {
                let target = call.request(gateway.now_s()).target;
                records.insert(call.operation, read(gateway, &target, call.status).await);
            }
        }
        Self {
            index: page("/api").await,
            openapi: page("/api/openapi.json").await,
            card: page("/.well-known/agent.json").await,
            manifest: page("/.well-known/service.json").await,
            stats: page("/api/stats").await,
            work: page("/api/work?limit=200").await,
            leaderboard: page("/api/leaderboard?limit=200").await,
            llms: page("/llms.txt").await,
            services: status["services"].as_object().unwrap().keys().cloned().collect(),
            records,
        }
    }

    /// Fails with the pages and the places that differ.
    #[track_caller]
    pub fn assert_are(&self, found: &Self, when: &str) {
        let mut differences = Vec::new();
        let documents = |pages: &Self| {
            let Self { index, openapi, card, manifest, stats, work, leaderboard, llms, .. } = pages.clone();
            [index, openapi, card, manifest, stats, work, leaderboard, llms]
        };
        let names = ["index", "openapi", "card", "manifest", "stats", "work", "leaderboard", "llms.txt"];
        for ((name, expected), found) in names.iter().zip(documents(self)).zip(documents(found)) {
            compare(name, &timeless(expected), &timeless(found), &mut differences);
        }
        for (operation, expected) in &self.records {
            compare(
                operation,
                &timeless(expected.clone()),
                &timeless(found.records[operation].clone()),
                &mut differences,
            );
        }
        if self.services != found.services {
            differences.push(format!("services of the status: {:?} for {:?}", found.services, self.services));
        }
        assert!(differences.is_empty(), "{when}:\n{}", differences.join("\n"));
    }
}

fn is_document(path: &str) -> bool {
    let documents = ["/api", "/api/openapi.json", "/api/stats", "/api/work", "/api/leaderboard"];
    documents.contains(&path) || path.starts_with("/api/discovery/")
}

/// `expected` is the status of the right call: some pages need more than there is here.
async fn read(gateway: &TestGateway, path: &str, expected: u16) -> Value {
    let answer = gateway.get(path).await;
    match answer.status {
        404 => Value::Null,
        status if status == expected => {
            serde_json::from_slice(&answer.body).unwrap_or_else(|_no_json| Value::from(answer.text()))
        }
        status => panic!("{path}: {status} {}", answer.text()),
    }
}

pub fn timeless(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| !TIMES.contains(&name.as_str()));
            members.values_mut().for_each(|member| *member = timeless(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

/// Adds each place that differs.
fn compare(place: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
                match (ours.get(name), theirs.get(name)) {
                    (Some(ours), Some(theirs)) => compare(&format!("{place}/{name}"), ours, theirs, differences),
                    (None, _) => differences.push(format!("{place}/{name} is there")),
                    (_, None) => differences.push(format!("{place}/{name} is missing")),
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                compare(&format!("{place}/{number}"), ours, theirs, differences);
            }
        }
        (expected, found) if expected != found => {
            differences.push(format!("{place} is {found:.600} and not {expected:.600}"));
        }
        _ => {}
    }
}
