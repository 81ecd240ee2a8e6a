//! The usage of each plugin: requests by operation, their latency, time in the database.
//!
//! The rule: a route holds its counters from the time it is mounted. A request looks up nothing and formats nothing, and
//! the number of series is bounded by the number of plugins and operations.

use crate::{
    histogram::{Histogram, HistogramSnapshot},
    registry::Registry,
    traffic::{TrafficHistory, TrafficInterval, TrafficTotals},
};
use http::StatusCode;
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

/// Values of the label `status`; the last one counts requests whose client left before the response.
pub(crate) const STATUS_CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "gone"];
const SERVER_ERROR: usize = 3;
const CLIENT_GONE: usize = 4;

/// Of a plugin's own counters: a label with an id as its value would make a series for every id.
const SERIES_MAX: usize = 500;

/// Counted since the gateway started; disabling and enabling a plugin does not reset its counters.
#[derive(Debug, Default)]
pub struct Usage {
    plugins: Registry<String, PluginUsage>,
    traffic: Mutex<TrafficHistory>,
}

#[derive(Debug, Default)]
pub struct PluginUsage {
    operations: Registry<String, OperationUsage>,
    pub database: Arc<DatabaseUsage>,
    /// The plugin's own counters, by the hash of name and labels.
    series: Mutex<HashSet<u64>>,
}

#[derive(Debug, Default)]
pub struct OperationUsage {
    pub responses: [AtomicU64; STATUS_CLASSES.len()],
    pub latency: Histogram,
}

/// Time in the database, including the wait for a connection or a lock.
#[derive(Debug, Default)]
pub struct DatabaseUsage {
    pub read: Histogram,
    /// One record per call of a transaction.
    pub write: Histogram,
}

impl Usage {
    pub fn plugin(&self, name: &str) -> Arc<PluginUsage> {
        self.plugins.get_or_insert_with(name, PluginUsage::default)
    }

    pub(crate) fn plugins(&self) -> BTreeMap<String, Arc<PluginUsage>> {
        self.plugins.list().into_iter().collect()
    }

    /// Of all operations of a plugin together.
    pub fn latency(&self, plugin: &str) -> HistogramSnapshot {
        let mut total = HistogramSnapshot::default();
        for operation in self.plugin(plugin).operations().values() {
            total.add(&operation.latency.snapshot());
        }
        total
    }
}

/// The last hour, of all plugins together.
impl Usage {
    /// To be called once every [`crate::TRAFFIC_INTERVAL`].
    pub fn close_traffic_interval(&self) {
        let totals = self.totals();
        self.traffic.lock().close_interval(Instant::now(), totals);
    }

    /// The oldest first; the last one is not over.
    pub fn traffic(&self) -> Vec<TrafficInterval> {
        let totals = self.totals();
        self.traffic.lock().intervals(Instant::now(), &totals)
    }

    fn totals(&self) -> TrafficTotals {
        let mut totals = TrafficTotals::default();
        for operation in self.plugins().values().flat_map(|plugin| plugin.operations().into_values()) {
            let responses = operation.responses.each_ref().map(|count| count.load(Relaxed));
            totals.requests += responses.iter().sum::<u64>();
            totals.failed += responses[SERVER_ERROR];
            totals.latency.add(&operation.latency.snapshot());
        }
        totals
    }
}

impl PluginUsage {
    pub fn operation(&self, operation: &str) -> Arc<OperationUsage> {
        self.operations.get_or_insert_with(operation, OperationUsage::default)
    }

    /// Whether the plugin may count in this series: it exists, or the plugin has fewer than the most.
    pub fn admits_series(&self, metric: &str, labels: &BTreeMap<String, String>) -> bool {
        let mut hasher = DefaultHasher::new();
        (metric, labels).hash(&mut hasher);
        let key = hasher.finish();
        let mut series = self.series.lock();
        series.contains(&key) || (series.len() < SERIES_MAX && series.insert(key))
    }

    pub(crate) fn operations(&self) -> BTreeMap<String, Arc<OperationUsage>> {
        self.operations.list().into_iter().collect()
    }
}

impl OperationUsage {
    /// Measures one request from here until the guard is dropped.
    pub fn start_request(self: &Arc<Self>) -> UsageGuard {
        UsageGuard { usage: self.clone(), started: Instant::now(), status_class: CLIENT_GONE }
    }
}

/// One request, recorded when the guard is dropped, so that a request whose client leaves early is recorded too.
pub struct UsageGuard {
    usage: Arc<OperationUsage>,
    started: Instant,
    status_class: usize,
}

impl UsageGuard {
    pub fn set_status(&mut self, status: StatusCode) {
        self.status_class = match status.as_u16() {
            0..300 => 0,
            300..400 => 1,
            400..500 => 2,
            _ => 3,
        };
    }
}

impl Drop for UsageGuard {
    fn drop(&mut self) {
        if let Some(count) = self.usage.responses.get(self.status_class) {
            count.fetch_add(1, Relaxed);
        }
        self.usage.latency.record(self.started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_a_plugin_are_bounded() {
        let plugin = Usage::default().plugin("forum");
        let label = |id: usize| BTreeMap::from([("id".to_owned(), id.to_string())]);
        assert!((0..SERIES_MAX).all(|id| plugin.admits_series("seen", &label(id))));
        assert!(!plugin.admits_series("seen", &label(SERIES_MAX)) && plugin.admits_series("seen", &label(0)));
    }

    #[test]
    fn requests_are_counted_by_the_class_of_their_status() {
        let usage = Usage::default();
        let operation = usage.plugin("forum").operation("list_threads");
        for status in [200, 201, 304, 404, 503] {
            operation.start_request().set_status(StatusCode::from_u16(status).unwrap_or_default());
        }
        drop(operation.start_request());
        assert_eq!(operation.responses.each_ref().map(|count| count.load(Relaxed)), [2, 1, 1, 1, 1]);
        assert_eq!(usage.latency("forum").count(), 6);
        let totals = usage.totals();
        assert_eq!((totals.requests, totals.failed, totals.latency.count()), (6, 1, 6));
        assert!(Arc::ptr_eq(&operation, &usage.plugin("forum").operation("list_threads")), "mounted again");
    }
}
