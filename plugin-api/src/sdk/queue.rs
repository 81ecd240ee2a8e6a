//! Durable queues: tasks that are pushed in a transaction and handled later, on any gateway.

use super::{HostHandle, PluginContext, Tx, job};
use crate::{
    abi::{Fault, FfiBytes, HostError, HostErrorCode},
    manifest::{PushedTask, QueueCall, QueueLimits, QueueTask, RenewCall, TaskEnd, TaskLease, TaskOutcome},
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};
use std::{
    future::Future,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// Most handlers renew at once.
const FRESH_LEASE: Duration = Duration::from_millis(100);

/// The handler of a queue, with how its tasks are run.
pub(crate) struct QueueFn<P> {
    pub(crate) limits: Box<dyn Fn(&P) -> QueueLimits + Send + Sync>,
    pub(crate) run: RunTaskFn<P>,
}

type RunTaskFn<P> = Box<dyn Fn(&PluginContext<P>, FfiBytes) -> FfiFuture<RResult<FfiBytes, Fault>> + Send + Sync>;

/// A queue of tasks whose payloads are `T`, by the name of its table: see [`crate::queue`].
pub struct Queue<T> {
    table: &'static str,
    payload: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Queue<T> {}

impl<T> Queue<T> {
    /// `table` is what a migration of the plugin made by `{{queue TABLE}}`.
    pub const fn new(table: &'static str) -> Self {
        Self { table, payload: PhantomData }
    }

    pub(crate) fn table(&self) -> &'static str {
        self.table
    }
}

impl<T: Serialize> Queue<T> {
    /// Adds a task with what `tx` writes, and returns its id; `None` when a task with the same [`NewTask::unique`] is waiting or
    /// running.
    pub async fn push(&self, tx: &Tx, task: &NewTask<'_, T>) -> Result<Option<i64>, HostError> {
        Ok(self.push_tasks(tx, std::slice::from_ref(task)).await?.into_iter().next())
    }

    /// Adds up to 1,000 tasks in one call, and returns how many of them are new.
    pub async fn push_all(&self, tx: &Tx, tasks: &[NewTask<'_, T>]) -> Result<usize, HostError> {
        Ok(self.push_tasks(tx, tasks).await?.len())
    }

    async fn push_tasks(&self, tx: &Tx, tasks: &[NewTask<'_, T>]) -> Result<Vec<i64>, HostError> {
        let tasks = tasks.iter().map(NewTask::to_pushed).collect::<Result<_, _>>()?;
        let call = QueueCall::Push { table: self.table.to_owned(), tasks };
        let ids = tx.call_capability("queue", &call).await?.response;
        serde_json::from_slice(&ids).map_err(invalid)
    }
}

/// A task to be pushed.
#[derive(Clone, Debug)]
pub struct NewTask<'a, T> {
    key: &'a str,
    group: &'a str,
    payload: &'a T,
    due_ms: Option<i64>,
    unique: Option<&'a str>,
}

impl<'a, T: Serialize> NewTask<'a, T> {
    /// Tasks of one key start one at a time, in the order in which they were pushed.
    pub fn new(key: &'a str, payload: &'a T) -> Self {
        Self { key, group: key, payload, due_ms: None, unique: None }
    }

    /// Whose task it is: a group has a number of places. By default each key is a group.
    #[must_use]
    pub fn group(mut self, group: &'a str) -> Self {
        self.group = group;
        self
    }

    /// Not before this time, in Unix milliseconds by the gateway's clock.
    #[must_use]
    pub fn due_ms(mut self, due_ms: i64) -> Self {
        self.due_ms = Some(due_ms);
        self
    }

    /// While a task with this text is waiting or running, no other one with it is added.
    #[must_use]
    pub fn unique(mut self, unique: &'a str) -> Self {
        self.unique = Some(unique);
        self
    }

    fn to_pushed(&self) -> Result<PushedTask, HostError> {
        Ok(PushedTask {
            key: self.key.to_owned(),
            group: self.group.to_owned(),
            payload: to_raw_value(self.payload).map_err(invalid)?,
            due_ms: self.due_ms,
            unique: self.unique.map(str::to_owned),
        })
    }
}

/// How the tasks of a queue are run. A plugin whose settings are out of their bounds does not start, and its report says which.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// How long to wait after the first failure, the second, … (a tenth more or less), each a year at most: there is one attempt more
    /// than waits.
    pub backoff: Vec<Duration>,
    /// How many tasks one gateway runs at a time: 1 to 1,024.
    pub concurrency: u32,
    /// How many tasks of one group run at a time, on all gateways together: 1 or more.
    pub concurrency_per_group: u32,
    /// How long a key is kept for a gateway that has died: 1 ms to a day.
    pub lease: Duration,
    /// How long one call of the handler may take: 1 ms to a day. A lease is always longer.
    pub timeout: Duration,
    /// Keys whose last task took longer, or failed, share a quarter of the places.
    pub slow_after: Duration,
    /// How long tasks that failed for good are kept, for the operator.
    pub keep_dead: Duration,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            backoff: [10, 60, 600].map(Duration::from_secs).into(),
            concurrency: 64,
            concurrency_per_group: 4,
            lease: Duration::from_secs(30),
            timeout: Duration::from_secs(20),
            slow_after: Duration::from_secs(2),
            keep_dead: Duration::from_secs(30 * 86_400),
        }
    }
}

impl QueueSettings {
    fn into_limits(self) -> QueueLimits {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        QueueLimits {
            backoff_ms: self.backoff.into_iter().map(ms).collect(),
            concurrency: self.concurrency,
            concurrency_per_group: self.concurrency_per_group,
            lease_ms: ms(self.lease),
            timeout_ms: ms(self.timeout),
            slow_after_ms: ms(self.slow_after),
            keep_dead_ms: ms(self.keep_dead),
        }
    }
}

/// When a task is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// After the wait of [`QueueSettings::backoff`].
    Backoff,
    /// After this time; it counts as an attempt as well.
    After(Duration),
}

/// What [`Task::retry`] made of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryOutcome {
    /// It is due again at this time, in Unix milliseconds.
    Again { due_ms: i64 },
    /// That was its last attempt: it is dead.
    Dead,
}

/// A task in the hands of its handler, which has the lease of its key.
///
/// Each of the outcomes fails with [`HostErrorCode::Constraint`] when the lease was lost, because this process was stopped for longer
/// than it: another gateway has the task. The write that returns the error changes nothing.
#[derive(Clone, Debug)]
pub struct Task<T> {
    pub payload: T,
    state: Arc<TaskState>,
}

#[derive(Debug)]
struct TaskState {
    table: &'static str,
    lease: TaskLease,
    attempt: u32,
    pushed_ms: i64,
    retry_wait_ms: Option<u64>,
    slow_after: Duration,
    lease_ms: u64,
    /// When the handler was called.
    lease_age: Option<Duration>,
    started: Instant,
    is_recorded: AtomicBool,
    is_lost: AtomicBool,
}

impl<T> Task<T> {
    pub fn id(&self) -> i64 {
        self.state.lease.task
    }

    pub fn key(&self) -> &str {
        &self.state.lease.key
    }

    /// From 1.
    pub fn attempt(&self) -> u32 {
        self.state.attempt
    }

    /// When it was pushed, in Unix milliseconds.
    pub fn pushed_ms(&self) -> i64 {
        self.state.pushed_ms
    }

    /// It is done, in the transaction of what came of it. (A handler that returns `Ok` without an outcome has done it, too.)
    pub async fn done(&self, tx: &Tx) -> Result<(), HostError> {
        let is_slow = self.state.started.elapsed() > self.state.slow_after;
        self.end(tx, TaskOutcome::Done { is_slow }).await
    }

    /// It failed: it is tried again, unless this was the last attempt.
    pub async fn retry(&self, tx: &Tx, retry: Retry, reason: &str) -> Result<RetryOutcome, HostError> {
        let Some(backoff_ms) = self.state.retry_wait_ms else {
            self.dead(tx, reason).await?;
            return Ok(RetryOutcome::Dead);
        };
        let wait_ms = match retry {
            Retry::Backoff => i64::try_from(backoff_ms).unwrap_or(i64::MAX),
            Retry::After(wait) => i64::try_from(wait.as_millis()).unwrap_or(i64::MAX),
        };
        let due_ms = tx.now_ms().saturating_add(wait_ms);
        self.end(tx, TaskOutcome::Retry { due_ms, reason: reason.to_owned() }).await?;
        Ok(RetryOutcome::Again { due_ms })
    }

    /// It failed for good. The operator finds it, with the reason, for as long as [`QueueSettings::keep_dead`] says.
    pub async fn dead(&self, tx: &Tx, reason: &str) -> Result<(), HostError> {
        self.end(tx, TaskOutcome::Dead { reason: reason.to_owned() }).await
    }

    /// It failed for good, and nothing is kept of it: the plugin has rows that say so. Its key counts as one that failed.
    pub async fn give_up(&self, tx: &Tx) -> Result<(), HostError> {
        self.end(tx, TaskOutcome::Done { is_slow: true }).await
    }

    /// Extends the lease, from now on: before an effect that must not happen on two gateways at a time. When it returns `false`, the
    /// lease was lost, and the handler does nothing more. One that was acquired within the last 100 ms is as good as renewed: then
    /// the database is not asked.
    pub async fn renew(&self, host: &HostHandle) -> Result<bool, HostError> {
        if self.state.has_fresh_lease() {
            return Ok(true);
        }
        let TaskState { table, lease, lease_ms, .. } = &*self.state;
        let call = RenewCall { table: (*table).to_owned(), lease: lease.clone(), lease_ms: *lease_ms };
        let response = host.call_capability("queue_renew", &call, FfiBytes::default()).await?.response;
        let is_there: bool = serde_json::from_slice(&response).map_err(invalid)?;
        self.state.is_lost.store(!is_there, Relaxed);
        Ok(is_there)
    }

    async fn end(&self, tx: &Tx, outcome: TaskOutcome) -> Result<(), HostError> {
        let TaskState { table, lease, .. } = &*self.state;
        let call = QueueCall::End { table: (*table).to_owned(), lease: lease.clone(), outcome };
        let ended = tx.call_capability("queue", &call).await;
        let is_lost = ended.as_ref().is_err_and(|error| error.is(HostErrorCode::Constraint));
        self.state.is_lost.store(is_lost, Relaxed);
        self.state.is_recorded.store(ended.is_ok(), Relaxed);
        ended.map(drop)
    }
}

impl TaskState {
    fn has_fresh_lease(&self) -> bool {
        // Of a lease that is short, a tenth.
        let fresh = FRESH_LEASE.min(Duration::from_millis(self.lease_ms / 10));
        self.lease_age.is_some_and(|age| age.saturating_add(self.started.elapsed()) < fresh)
    }

    fn end(&self) -> TaskEnd {
        match (self.is_lost.load(Relaxed), self.is_recorded.load(Relaxed)) {
            (true, _) => TaskEnd::Lost,
            (false, true) => TaskEnd::Recorded,
            (false, false) => TaskEnd::Unrecorded,
        }
    }
}

pub(crate) fn queue_fn<P, T, F, Fut>(
    queue: Queue<T>,
    settings: impl Fn(&P) -> QueueSettings + Send + Sync + 'static,
    handle: F,
) -> QueueFn<P>
where
    P: Send + Sync + 'static,
    T: DeserializeOwned + Send + 'static,
    F: Fn(PluginContext<P>, Task<T>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HostError>> + Send + 'static,
{
    let (table, handle) = (queue.table(), Arc::new(handle));
    QueueFn {
        limits: Box::new(move |plugin| settings(plugin).into_limits()),
        run: Box::new(move |cx, task| {
            let (handle, cx_of_call) = (handle.clone(), cx.clone());
            job::contained(cx, table, move || async move {
                let task: QueueTask = serde_json::from_slice(&task).map_err(invalid)?;
                let task = decode(table, task)?;
                let state = task.state.clone();
                let handled = handle(cx_of_call, task).await;
                // What comes of a lost lease is no fault of the plugin.
                if state.end() != TaskEnd::Lost {
                    handled?;
                }
                serde_json::to_vec(&state.end()).map(FfiBytes::from).map_err(invalid)
            })
        }),
    }
}

fn decode<T: DeserializeOwned>(table: &'static str, task: QueueTask) -> Result<Task<T>, HostError> {
    let payload: &RawValue = &task.payload;
    let payload = serde_json::from_str(payload.get()).map_err(invalid)?;
    let state = TaskState {
        table,
        lease: TaskLease { task: task.id, key: task.key, token: task.token },
        attempt: task.attempt,
        pushed_ms: task.pushed_ms,
        retry_wait_ms: task.retry_wait_ms,
        slow_after: Duration::from_millis(task.slow_after_ms),
        lease_ms: task.lease_ms,
        lease_age: task.lease_age_ms.map(Duration::from_millis),
        started: Instant::now(),
        is_recorded: AtomicBool::new(false),
        is_lost: AtomicBool::new(false),
    };
    Ok(Task { payload, state: Arc::new(state) })
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn has_fresh_lease(lease_age_ms: Option<u64>, lease_ms: u64) -> bool {
        let task = QueueTask {
            id: 1,
            key: "a".to_owned(),
            token: 2,
            attempt: 1,
            pushed_ms: 0,
            retry_wait_ms: None,
            slow_after_ms: 2_000,
            lease_ms,
            lease_age_ms,
            payload: to_raw_value(&()).unwrap(),
        };
        decode::<()>("notes_mails", task).unwrap().state.has_fresh_lease()
    }

    #[test]
    fn only_a_lease_of_this_moment_is_as_good_as_renewed() {
        assert!(has_fresh_lease(Some(0), 30_000));
        assert!(!has_fresh_lease(Some(100), 30_000));
        assert!(!has_fresh_lease(Some(u64::MAX), 30_000));
        assert!(!has_fresh_lease(Some(50), 500), "it may be over soon");
        assert!(!has_fresh_lease(None, 30_000), "an older gateway does not say");
    }
}
