//! What the operator sees of a queue.

use super::store::QueueStats;

/// By plugin and queue. A gateway reports all of a queue, not its own part: all gateways on one database report the same.
#[derive(Clone)]
pub(crate) struct QueueGauges {
    plugin: String,
    queue: String,
}

impl QueueGauges {
    pub(crate) fn new(plugin: &str, queue: &str) -> Self {
        Self { plugin: plugin.to_owned(), queue: queue.to_owned() }
    }

    pub(crate) fn set(&self, stats: &QueueStats, now_ms: i64) {
        let QueueStats { due_keys, running, dead, tasks, oldest_pushed_ms } = *stats;
        let keys = [("due", due_keys), ("running", running)];
        for (state, keys) in keys {
            let labels = [("plugin", self.plugin.clone()), ("queue", self.queue.clone()), ("state", state.to_owned())];
            metrics::gauge!("gateway_queue_keys", &labels).set(saturating_u32(keys));
        }
        for (state, count) in [("waiting", tasks.saturating_sub(running)), ("running", running), ("dead", dead)] {
            let labels = [("plugin", self.plugin.clone()), ("queue", self.queue.clone()), ("state", state.to_owned())];
            metrics::gauge!("gateway_queue_tasks", &labels).set(saturating_u32(count));
        }
        let labels = [("plugin", self.plugin.clone()), ("queue", self.queue.clone())];
        let age_s = now_ms.saturating_sub(oldest_pushed_ms) / 1_000;
        metrics::gauge!("gateway_queue_oldest_task_seconds", &labels).set(saturating_u32(age_s));
    }

    /// Counts a call of the handler, or what became of a task without one.
    pub(crate) fn count(&self, result: &'static str, count: u64) {
        let labels = [("plugin", self.plugin.clone()), ("queue", self.queue.clone()), ("result", result.to_owned())];
        metrics::counter!("gateway_queue_attempts_total", &labels).increment(count);
    }
}

fn saturating_u32(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}
