//! Durable queues of plugins: what they push and end in their transactions, and the calls of their handlers.
//!
//! The rule: a plugin reaches the queues that its manifest declares, which are tables of its own, and no others.

use super::{ActivePlugin, TransactionContext, polls::GateClosed};
use abi_stable::std_types::RResult;
use futures_util::future::BoxFuture;
use gateway_clock::Clock;
use gateway_queue::{
    QueueStore, QueueWorker, TaskHandler, TaskResult, end_statement, is_lease_held, new_ids, push_statements,
    renew_statement,
};
use gateway_storage::{Database, StorageError};
use gateway_telemetry::{Span, SpanScope};
use plugin_api::{
    abi::{FfiBytes, HostError, HostErrorCode, Statement, StatementResult},
    host::decode_call,
    manifest::{QueueCall, QueueLimits, QueueSpec, QueueTask, RenewCall},
};
use std::{sync::Arc, time::Duration};

/// Tasks of one call.
const PUSHED_MAX: usize = 1_000;
/// Bytes of a task's key, its group and what makes it unique.
const NAME_BYTES_MAX: usize = 512;
/// How much longer a lease is than the time limit of a handler.
const LEASE_REST_MS: u64 = 5_000;

/// The worker of a queue of a plugin that serves.
pub async fn worker(
    plugin: &Arc<ActivePlugin>,
    index: u32,
    context: &TransactionContext,
    drain_timeout: Duration,
) -> Result<QueueWorker, String> {
    let Some(spec) = plugin.manifest.queues.get(index as usize) else { return Err("there is no such queue".into()) };
    let mut limits = limits(plugin, index).await.map_err(|reason| format!("the queue {}: {reason}", spec.table))?;
    limits.lease_ms = limits.lease_ms.max(limits.timeout_ms.saturating_add(LEASE_REST_MS.min(limits.timeout_ms)));
    let timeout = Duration::from_millis(limits.timeout_ms);
    let has_jitter = matches!(context.clock, Clock::System);
    Ok(QueueWorker {
        plugin: plugin.name().to_owned(),
        store: QueueStore::new(context.database.clone(), &spec.table, limits, has_jitter),
        clock: context.clock.clone(),
        wakes: context.queues.clone(),
        handler: Arc::new(Handler { plugin: plugin.clone(), index, timeout }),
        stop: plugin.handle.stop.clone(),
        drain_timeout,
    })
}

async fn limits(plugin: &Arc<ActivePlugin>, index: u32) -> Result<QueueLimits, String> {
    let Some(operation) = plugin.operations.queue(index) else { return Err("it has no handler".into()) };
    match plugin.call(operation.number, || plugin.object.queue_limits(index)).await {
        Ok(RResult::ROk(limits)) => serde_json::from_slice(&limits).map_err(|error| error.to_string()),
        Ok(RResult::RErr(fault)) => Err(fault.message.to_string()),
        Err(GateClosed) => Err("the plugin is fenced".into()),
    }
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
            let run = run(&plugin, index, timeout, task);
            let result = SpanScope::run(span.as_ref().map(Span::scope), run).await;
            if let (Some(span), TaskResult::Failed(_)) = (&span, &result) {
                span.fail("task_failed");
            }
            result
        })
    }
}

async fn run(plugin: &Arc<ActivePlugin>, index: u32, timeout: Duration, task: QueueTask) -> TaskResult {
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

/// The call of a plugin that has these queues.
pub fn parse(queues: &[QueueSpec], request: &[u8]) -> Result<QueueCall, HostError> {
    let call: QueueCall = decode_call("a call of a queue", request)?;
    match &call {
        QueueCall::Push { table, tasks } => {
            check_declared(queues, table)?;
            if tasks.len() > PUSHED_MAX {
                return Err(invalid(format!("{} tasks in a call, at most {PUSHED_MAX}", tasks.len())));
            }
            let names = |task: &plugin_api::manifest::PushedTask| {
                [task.key.len(), task.group.len(), task.unique.as_ref().map_or(0, String::len)]
            };
            if tasks.iter().flat_map(names).any(|bytes| bytes > NAME_BYTES_MAX) {
                return Err(invalid(format!("a key, group or `unique` has more than {NAME_BYTES_MAX} bytes")));
            }
        }
        QueueCall::End { table, .. } => check_declared(queues, table)?,
    }
    Ok(call)
}

fn check_declared(queues: &[QueueSpec], table: &str) -> Result<(), HostError> {
    if queues.iter().any(|queue| queue.table == table) {
        return Ok(());
    }
    let message = format!("the plugin does not declare the queue {table:?}: see `Definition::on_queue`");
    Err(HostError::new(HostErrorCode::Refused, message))
}

/// Adds tasks, or ends one, within the transaction whose statements `run` executes.
pub async fn call<F>(call: QueueCall, now_ms: i64, run: impl FnOnce(Vec<Statement>) -> F) -> Result<FfiBytes, HostError>
where
    F: Future<Output = Result<Vec<StatementResult>, StorageError>>,
{
    match call {
        QueueCall::Push { table, tasks } => {
            let ids = new_ids(&run(push_statements(&table, &tasks, now_ms)).await?)?;
            let ids = serde_json::to_vec(&ids).map_err(|error| invalid(error.to_string()))?;
            Ok(ids.into())
        }
        QueueCall::End { table, lease, outcome } => {
            if is_lease_held(&run(vec![end_statement(&table, &lease, &outcome)]).await?) {
                return Ok(FfiBytes::default());
            }
            let message = format!("the lease of the key {:?} was lost: another gateway has the task", lease.key);
            Err(HostError::new(HostErrorCode::Constraint, message))
        }
    }
}

/// Whether the lease was still there.
pub async fn renew(database: &Database, queues: &[QueueSpec], request: &[u8]) -> Result<bool, HostError> {
    let RenewCall { table, lease, lease_ms } = decode_call("a lease", request)?;
    check_declared(queues, &table)?;
    let renew = renew_statement(&table, &lease, lease_ms, database.dialect());
    Ok(is_lease_held(&[database.execute(renew).await?]))
}

fn invalid(message: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, message)
}
