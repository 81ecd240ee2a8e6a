//! The worker of a plugin's durable queue, and the calls of its handler.

use crate::{
    loading::validate::check_queue_limits, plugin::ActivePlugin, polls::GateClosed, transaction::TransactionContext,
};
use abi_stable::std_types::RResult;
use futures_util::future::BoxFuture;
use gateway_clock::Clock;
use gateway_queue::{QueueStore, QueueWorker, QueueWorkerConfig, TaskHandler, TaskResult};
use gateway_telemetry::{Span, SpanScope};
use plugin_api::{
    abi::FfiBytes,
    manifest::{QueueLimits, QueueTask},
};
use std::{sync::Arc, time::Duration};

/// How much longer a lease is than the time limit of a handler.
const LEASE_REST_MS: u64 = 5_000;

/// The worker of a queue of a plugin that serves.
pub async fn queue_worker(
    plugin: &Arc<ActivePlugin>,
    index: u32,
    context: &TransactionContext,
    drain_timeout: Duration,
) -> Result<QueueWorker, String> {
    let Some(spec) = plugin.manifest.queues.get(index as usize) else { return Err("there is no such queue".into()) };
    let mut limits = limits(plugin, index).await.map_err(|reason| format!("the queue {}: {reason}", spec.table))?;
    limits.lease_ms = limits.lease_ms.max(limits.timeout_ms.saturating_add(LEASE_REST_MS.min(limits.timeout_ms)));
    let timeout = Duration::from_millis(limits.timeout_ms);
    // With a clock that tests move, waits are exact.
    let has_jitter = matches!(context.clock, Clock::System);
    Ok(QueueWorker::new(QueueWorkerConfig {
        plugin: plugin.name().to_owned(),
        store: QueueStore::new(context.database.clone(), &spec.table, limits, has_jitter),
        clock: context.clock.clone(),
        wakes: context.queues.clone(),
        handler: Arc::new(Handler { plugin: plugin.clone(), index, timeout }),
        stop: plugin.handle.stop.clone(),
        drain_timeout,
    }))
}

async fn limits(plugin: &Arc<ActivePlugin>, index: u32) -> Result<QueueLimits, String> {
    let Some(operation) = plugin.operations.queue(index) else { return Err("it has no handler".into()) };
    let limits: QueueLimits = match plugin.call(operation.number, || plugin.object.queue_limits(index)).await {
        Ok(RResult::ROk(limits)) => serde_json::from_slice(&limits).map_err(|error| error.to_string())?,
        Ok(RResult::RErr(fault)) => return Err(fault.message.to_string()),
        Err(GateClosed) => return Err("the plugin is fenced".into()),
    };
    check_queue_limits(&limits).map_err(|problems| problems.join("; "))?;
    Ok(limits)
}

/// Runs the tasks of one queue.
struct Handler {
    plugin: Arc<ActivePlugin>,
    index: u32,
    timeout: Duration,
}

impl TaskHandler for Handler {
    fn paused_until_ms(&self) -> Option<i64> {
        let paused = self.plugin.operations.queue(self.index)?.breaker.paused()?;
        Some(paused.until_ms)
    }

    fn run(&self, task: QueueTask) -> BoxFuture<'static, TaskResult> {
        let (plugin, index, timeout) = (self.plugin.clone(), self.index, self.timeout);
        Box::pin(async move {
            let queue = plugin.manifest.queues.get(index as usize).map_or("", |spec| spec.table.as_str());
            let span = Span::of_task(plugin.name(), queue);
            let run = run_task(&plugin, index, timeout, task);
            let result = SpanScope::run(span.as_ref().map(Span::scope), run).await;
            if let (Some(span), TaskResult::Failed(_)) = (&span, &result) {
                span.fail("task_failed");
            }
            result
        })
    }
}

async fn run_task(plugin: &Arc<ActivePlugin>, index: u32, timeout: Duration, task: QueueTask) -> TaskResult {
    let Some(operation) = plugin.operations.queue(index) else { return TaskResult::NotStarted };
    let task = match serde_json::to_vec(&task) {
        Ok(task) => FfiBytes::from(task),
        Err(error) => return TaskResult::Failed(error.to_string()),
    };
    let decode = |end: FfiBytes| {
        serde_json::from_slice(&end).map_err(|error| format!("the end of a task has another shape: {error}"))
    };
    match plugin.call_contained(operation, timeout, || plugin.object.run_task(index, task), decode).await {
        Ok(end) => TaskResult::Returned(end),
        Err(error) if error.is_not_serving() => TaskResult::NotStarted,
        Err(error) => TaskResult::Failed(error.to_string()),
    }
}
