//! What each plugin was used for: requests by operation, how long they took, what went wrong, time in the database.
//!
//! The rule: whoever counts holds the counters already, since the route was mounted. A request looks nothing up and makes
//! no text, and there are no more series than plugins and operations.

use super::histogram::{Durations, Histogram};
use http::StatusCode;
use parking_lot::{Mutex, RwLock};
use plugin_api::abi::FaultKind;
use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// The answers to requests, as they are told apart; the last is no answer, because its client left.
pub const OUTCOMES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "gone"];
const GONE: usize = 4;
/// What a handler can do wrong.
pub const FAULTS: [&str; 3] = ["error", "panic", "timeout"];

/// Counters of a plugin's own: a label with an id in it would make one more for every id.
const SERIES_MAX: usize = 500;

/// Since the gateway started; a plugin that was switched off and on again goes on counting.
#[derive(Debug, Default)]
pub struct Usage(RwLock<BTreeMap<String, Arc<PluginUsage>>>);

#[derive(Debug, Default)]
pub struct PluginUsage {
    operations: RwLock<BTreeMap<String, Arc<OperationUsage>>>,
    pub database: Arc<DatabaseUsage>,
    /// Counters of the plugin's own, by the hash of name and labels.
    series: Mutex<HashSet<u64>>,
}

#[derive(Debug, Default)]
pub struct OperationUsage {
    pub outcomes: [AtomicU64; OUTCOMES.len()],
    pub faults: [AtomicU64; FAULTS.len()],
    pub latency: Histogram,
}

/// Time in the database, waiting for a turn included.
#[derive(Debug, Default)]
pub struct DatabaseUsage {
    pub read: Histogram,
    /// Of each call of a transaction.
    pub write: Histogram,
}

impl Usage {
    pub fn plugin(&self, name: &str) -> Arc<PluginUsage> {
        find_or_make(&self.0, name)
    }

    pub fn plugins(&self) -> Vec<(String, Arc<PluginUsage>)> {
        list(&self.0)
    }

    /// All operations of a plugin together.
    pub fn latency(&self, plugin: &str) -> Durations {
        let mut all = Durations::default();
        for (_, operation) in self.plugin(plugin).operations() {
            all.add(&operation.latency.read());
        }
        all
    }
}

impl PluginUsage {
    pub fn operation(&self, operation: &str) -> Arc<OperationUsage> {
        find_or_make(&self.operations, operation)
    }

    /// Whether the plugin may count this: it has done so before, or has room for one more.
    pub fn admits(&self, metric: &str, labels: &BTreeMap<String, String>) -> bool {
        let mut hasher = DefaultHasher::new();
        (metric, labels).hash(&mut hasher);
        let key = hasher.finish();
        let mut series = self.series.lock();
        series.contains(&key) || (series.len() < SERIES_MAX && series.insert(key))
    }

    pub fn operations(&self) -> Vec<(String, Arc<OperationUsage>)> {
        list(&self.operations)
    }
}

fn find_or_make<T: Default>(map: &RwLock<BTreeMap<String, Arc<T>>>, name: &str) -> Arc<T> {
    if let Some(known) = map.read().get(name) {
        return known.clone();
    }
    map.write().entry(name.to_owned()).or_default().clone()
}

fn list<T>(map: &RwLock<BTreeMap<String, Arc<T>>>) -> Vec<(String, Arc<T>)> {
    map.read().iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl OperationUsage {
    /// Watches one request from here to its answer.
    pub fn watch(self: &Arc<Self>) -> Watch {
        Watch { usage: self.clone(), started: Instant::now(), outcome: GONE }
    }

    pub fn fault(&self, kind: FaultKind) {
        let index = match kind {
            FaultKind::Error | FaultKind::Config => 0,
            FaultKind::Panic => 1,
        };
        self.count_fault(index);
    }

    pub fn timed_out(&self) {
        self.count_fault(2);
    }

    fn count_fault(&self, index: usize) {
        if let Some(count) = self.faults.get(index) {
            count.fetch_add(1, Relaxed);
        }
    }
}

/// One request; counted when it is dropped, so that a client that leaves early counts too.
pub struct Watch {
    usage: Arc<OperationUsage>,
    started: Instant,
    outcome: usize,
}

impl Watch {
    pub fn answered(&mut self, status: StatusCode) {
        self.outcome = match status.as_u16() {
            0..300 => 0,
            300..400 => 1,
            400..500 => 2,
            _ => 3,
        };
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(count) = self.usage.outcomes.get(self.outcome) {
            count.fetch_add(1, Relaxed);
        }
        self.usage.latency.record(self.started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_has_room_for_some_counters() {
        let plugin = Usage::default().plugin("forum");
        let label = |id: usize| BTreeMap::from([("id".to_owned(), id.to_string())]);
        assert!((0..SERIES_MAX).all(|id| plugin.admits("seen", &label(id))));
        assert!(!plugin.admits("seen", &label(SERIES_MAX)) && plugin.admits("seen", &label(0)));
    }

    #[test]
    fn requests_are_counted_by_what_came_of_them() {
        let usage = Usage::default();
        let operation = usage.plugin("forum").operation("list_threads");
        for status in [200, 201, 304, 404, 503] {
            operation.watch().answered(StatusCode::from_u16(status).unwrap_or_default());
        }
        drop(operation.watch());
        assert_eq!(operation.outcomes.each_ref().map(|count| count.load(Relaxed)), [2, 1, 1, 1, 1]);
        assert_eq!(usage.latency("forum").count(), 6);
        assert!(Arc::ptr_eq(&operation, &usage.plugin("forum").operation("list_threads")), "mounted again");
    }
}
