//! What plugins add to `/api/health`.
//!
//! The rule: probes ask often and give up early, so a question costs the plugins nothing most of the time, and one that does not
//! answer delays nobody for long. They are asked in a task of its own: a plugin that never gives its thread back holds only that.

use gateway_plugins::ExtensionPoints;
use parking_lot::{Mutex, RwLock};
use plugin_api::point::{self, NoInput};
use serde_json::{Map, Value};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::task::TaskTracker;

const AGE_MAX: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Default)]
pub struct HealthMembers {
    cache: Arc<MemberCache>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct MemberCache {
    collected_at: Mutex<Option<Instant>>,
    members: RwLock<Map<String, Value>>,
}

impl HealthMembers {
    /// As of at most two seconds ago, or as the plugins said when they answered last.
    pub async fn read(&self, points: &Arc<ExtensionPoints>) -> Map<String, Value> {
        if self.cache.is_due() {
            let (cache, points) = (self.cache.clone(), points.clone());
            let answer = self.tasks.spawn(async move {
                let members = collect(&points).await;
                *cache.members.write() = members;
            });
            // It goes on when it takes longer, and the next question finds what it has found.
            let _ = tokio::time::timeout(TIMEOUT, answer).await;
        }
        self.cache.members.read().clone()
    }
}

impl MemberCache {
    /// Whether the plugins have to be asked again, by the caller.
    fn is_due(&self) -> bool {
        let mut collected_at = self.collected_at.lock();
        let is_due = collected_at.is_none_or(|collected_at| collected_at.elapsed() >= AGE_MAX);
        if is_due {
            *collected_at = Some(Instant::now());
        }
        is_due
    }
}

/// Of two plugins that add the same member the first one counts.
async fn collect(points: &ExtensionPoints) -> Map<String, Value> {
    let mut members = Map::new();
    for (_, added) in points.collect_decoded(point::HEALTH, &NoInput {}).await {
        for (name, value) in added {
            members.entry(name).or_insert(value);
        }
    }
    members
}
