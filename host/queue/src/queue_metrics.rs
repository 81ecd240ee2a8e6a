//! What the operator sees of a queue.

use super::store::QueueStats;

/// The metrics of one queue, whose name and plugin are their labels. The gauges describe the whole queue, so that all gateways on one
/// database report the same; the counters count what this gateway did.
#[derive(Clone)]
pub(crate) struct QueueMetrics {
    plugin: String,
    queue: String,
}

/// How a call of the handler ended. Each call has one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptResult {
    /// The handler returned, and may have recorded that the task is tried again or is dead.
    Ok,
    /// An error, a panic, or a handler that took too long.
    Failed,
    /// Another gateway may call the handler for the key before this call has ended.
    Lost,
}

impl AttemptResult {
    const fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

impl QueueMetrics {
    pub(crate) fn new(plugin: &str, queue: &str) -> Self {
        Self { plugin: plugin.to_owned(), queue: queue.to_owned() }
    }

    pub(crate) fn set_gauges(&self, stats: &QueueStats, now_ms: i64) {
        let QueueStats { due_keys, running, dead, tasks, oldest_due_ms } = *stats;
        for (state, keys) in [("due", due_keys), ("running", running)] {
            metrics::gauge!("gateway_queue_keys", &self.labels_with("state", state)).set(saturating_u32(keys));
        }
        for (state, count) in [("waiting", tasks.saturating_sub(running)), ("running", running), ("dead", dead)] {
            metrics::gauge!("gateway_queue_tasks", &self.labels_with("state", state)).set(saturating_u32(count));
        }
        let age_s = now_ms.saturating_sub(oldest_due_ms) / 1_000;
        metrics::gauge!("gateway_queue_oldest_task_seconds", &self.labels()).set(saturating_u32(age_s));
    }

    pub(crate) fn count_attempt(&self, result: AttemptResult) {
        let labels = self.labels_with("result", result.label());
        metrics::counter!("gateway_queue_attempts_total", &labels).increment(1);
    }

    pub(crate) fn count_expired_leases(&self, count: u64) {
        metrics::counter!("gateway_queue_expired_leases_total", &self.labels()).increment(count);
    }

    pub(crate) fn count_dead_tasks(&self, count: u64) {
        metrics::counter!("gateway_queue_dead_tasks_total", &self.labels()).increment(count);
    }

    fn labels(&self) -> [(&'static str, String); 2] {
        [("plugin", self.plugin.clone()), ("queue", self.queue.clone())]
    }

    fn labels_with(&self, name: &'static str, value: &str) -> [(&'static str, String); 3] {
        let [plugin, queue] = self.labels();
        [plugin, queue, (name, value.to_owned())]
    }
}

fn saturating_u32(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
