//! What plugins add to `/api/health`.
//!
//! The rule: probes ask often and give up early, so a question costs the plugins nothing most of the time, and one that does not
//! answer delays nobody for long.

use gateway_plugins::HostContext;
use plugin_api::point;
use serde_json::{Map, Value};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

const AGE_MAX: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Default)]
pub struct HealthMembers {
    /// Locked while the plugins are asked, so that all who come meanwhile share the answer.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    asked: Option<Instant>,
    members: Map<String, Value>,
}

impl HealthMembers {
    /// As of at most two seconds ago, or as the plugins said when they answered last.
    pub async fn read(&self, host: &HostContext) -> Map<String, Value> {
        let mut known = self.known.lock().await;
        if known.asked.is_none_or(|asked| asked.elapsed() >= AGE_MAX) {
            if let Ok(members) = tokio::time::timeout(TIMEOUT, collect(host)).await {
                known.members = members;
            }
            known.asked = Some(Instant::now());
        }
        known.members.clone()
    }
}

/// Of two plugins that add the same member the first one counts.
async fn collect(host: &HostContext) -> Map<String, Value> {
    let mut members = Map::new();
    for part in host.collect(point::HEALTH.name(), &b"{}"[..]).await {
        for (name, value) in part.decode(point::HEALTH).unwrap_or_default() {
            members.entry(name).or_insert(value);
        }
    }
    members
}
