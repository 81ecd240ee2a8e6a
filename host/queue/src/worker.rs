//! The worker of a queue in one gateway: it polls the tables, runs a scheduling cycle, and calls the handler with what it leased.
//!
//! The rule: it survives every failure of a handler and of the database until it is stopped, and it never spins. While there is nothing to
//! do a poll is one statement.

use super::{
    lease_tokens::GatewayTag,
    queue_metrics::{AttemptResult, QueueMetrics},
    scheduling_cycle::LeasedTask,
    store::{QueueStore, UnrecordedOutcome},
    task_slots::TaskSlots,
    tasks::NEVER_MS,
    wakes::QueueWakes,
};
use futures_util::future::BoxFuture;
use gateway_clock::{Backoff, Clock};
use gateway_storage::StorageError;
use plugin_api::manifest::{QueueTask, TaskEnd, TaskLease};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

/// How often it polls for what other gateways pushed.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The shortest time between two cycles: what ends meanwhile shares the next one, whose statements cost much the same for one and for many.
const CYCLE_INTERVAL: Duration = Duration::from_millis(2);
const MEASURE_INTERVAL: Duration = Duration::from_secs(15);
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
/// The time between two batches of a pruning that has more to delete. A busy queue adds keys more slowly than batches at this interval
/// delete them, so that the tables do not grow without end.
const PRUNE_BATCH_INTERVAL: Duration = Duration::from_millis(100);
/// The waits between attempts while the database fails.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(12_800));

/// What the worker waits for before its next step.
enum NextPoll {
    /// There may be more.
    Now,
    /// A push, the end of a task, or this time.
    WhenDue { due_ms: i64 },
    /// The database failed, or the plugin takes no calls.
    After(Duration),
}

/// How a call of the handler ended.
#[derive(Debug)]
pub enum TaskResult {
    Returned(TaskEnd),
    Failed(String),
    /// The plugin takes no calls now.
    NotStarted,
}

/// Runs the tasks of a queue.
pub trait TaskHandler: Send + Sync + 'static {
    /// Until when the handler is paused, because it failed too often. After that time one task is tried.
    fn paused_until_ms(&self) -> Option<i64>;
    fn run(&self, task: QueueTask) -> BoxFuture<'static, TaskResult>;
}

/// What a [`QueueWorker`] is made of.
pub struct QueueWorkerConfig {
    pub plugin: String,
    pub store: QueueStore,
    pub clock: Clock,
    pub wakes: QueueWakes,
    pub handler: Arc<dyn TaskHandler>,
    pub stop: CancellationToken,
    /// How long tasks may go on after the worker was asked to stop.
    pub drain_timeout: Duration,
}

/// Polls one queue until it is stopped, and calls the handler.
pub struct QueueWorker {
    plugin: String,
    stop: CancellationToken,
    drain_timeout: Duration,
    store: QueueStore,
    handler: Arc<dyn TaskHandler>,
    clock: Clock,
    wake: Arc<Notify>,
    metrics: QueueMetrics,
    in_flight: JoinSet<Option<UnrecordedOutcome>>,
    slow_calls: Arc<()>,
    /// The next cycle records these.
    unrecorded: Vec<UnrecordedOutcome>,
    /// Handlers recorded outcomes that no cycle has read.
    has_new_outcomes: bool,
    ended_gateways: EndedGateways,
    /// When the last cycle began.
    last_cycle_at: Option<Instant>,
    last_measured_at: Option<Instant>,
    next_pruning_at: Instant,
}

/// The gateways that ended without a word, and those of them whose leases a cycle has released.
struct EndedGateways {
    /// All that have ended in the last hour, by their instances; none on SQLite, where one gateway has the database.
    instances: Option<watch::Receiver<Arc<BTreeSet<String>>>>,
    released_instances: BTreeSet<String>,
}

impl EndedGateways {
    /// One whose leases are not released yet.
    fn next_unreleased(&mut self) -> Option<String> {
        let instances = self.instances.as_ref()?.borrow();
        // One that was only away for a while may end again.
        self.released_instances.retain(|instance| instances.contains(instance));
        instances.difference(&self.released_instances).next().cloned()
    }
}

impl QueueWorker {
    pub fn new(config: QueueWorkerConfig) -> Self {
        let QueueWorkerConfig { plugin, store, clock, wakes, handler, stop, drain_timeout } = config;
        let instances = store.database.ended_gateways();
        let (wake, metrics) = (wakes.of(store.table()), QueueMetrics::new(&plugin, store.table()));
        Self {
            plugin,
            stop,
            drain_timeout,
            store,
            handler,
            clock,
            wake,
            metrics,
            in_flight: JoinSet::new(),
            slow_calls: Arc::new(()),
            unrecorded: Vec::new(),
            has_new_outcomes: false,
            ended_gateways: EndedGateways { instances, released_instances: BTreeSet::new() },
            last_cycle_at: None,
            last_measured_at: None,
            // A gateway that is restarted often prunes, too.
            next_pruning_at: Instant::now(),
        }
    }

    pub async fn run(mut self) {
        let mut errors = 0_u32;
        while !self.stop.is_cancelled() {
            let next = match self.step().await {
                Ok(next) => {
                    errors = 0;
                    next
                }
                Err(error) => {
                    let (plugin, queue) = (&self.plugin, self.store.table());
                    tracing::warn!(plugin, queue, %error, "the database failed a queue");
                    let wait = BACKOFF.wait_after(errors);
                    errors = errors.saturating_add(1);
                    NextPoll::After(wait)
                }
            };
            self.wait(next).await;
        }
        self.drain().await;
    }

    async fn step(&mut self) -> Result<NextPoll, StorageError> {
        if let Some(rest) = self.last_cycle_at.and_then(|begun| CYCLE_INTERVAL.checked_sub(begun.elapsed())) {
            tokio::time::sleep(rest).await;
            self.collect_finished();
        }
        let now_ms = self.clock.now_ms();
        self.run_maintenance(now_ms).await?;
        let slots = self.slots(now_ms);
        let mut due_ms = NEVER_MS;
        let ended = self.ended_gateways.next_unreleased();
        if self.unrecorded.is_empty() && !self.has_new_outcomes && ended.is_none() {
            if slots.free == 0 {
                return Ok(NextPoll::WhenDue { due_ms });
            }
            let polled = self.store.poll().await?;
            let slow_due_ms = if slots.free_for_slow > 0 { polled.slow_due_ms } else { NEVER_MS };
            due_ms = polled.fast_due_ms.min(slow_due_ms);
            if !polled.needs_cycle && due_ms > now_ms {
                return Ok(NextPoll::WhenDue { due_ms });
            }
        }
        let begun = Instant::now();
        self.last_cycle_at = Some(begun);
        let tag = ended.as_deref().and_then(GatewayTag::of);
        let cycle = self.store.run_cycle((&self.unrecorded, tag), slots, now_ms).await?;
        self.ended_gateways.released_instances.extend(ended);
        let had_outcomes = self.has_new_outcomes || !self.unrecorded.is_empty();
        let was_released = self.unrecorded.iter().any(UnrecordedOutcome::is_released);
        self.unrecorded.clear();
        self.has_new_outcomes = false;
        self.metrics.count_expired_leases(cycle.expired_leases);
        self.metrics.count_dead_tasks(cycle.dead_lettered);
        let has_leased = !cycle.leased.is_empty();
        cycle.leased.into_iter().for_each(|leased| self.start_call(leased, begun));
        if was_released {
            return Ok(NextPoll::After(POLL_INTERVAL));
        }
        if has_leased || had_outcomes || tag.is_some() {
            return Ok(NextPoll::Now);
        }
        // Keys that are due and got no slot wait for the end of another task.
        Ok(NextPoll::WhenDue { due_ms: if due_ms > now_ms { due_ms } else { NEVER_MS } })
    }

    fn slots(&self, now_ms: i64) -> TaskSlots {
        let running = self.in_flight.len();
        let concurrency = usize::try_from(self.store.limits.concurrency.max(1)).unwrap_or(usize::MAX);
        let concurrency = match self.handler.paused_until_ms() {
            Some(until_ms) if now_ms < until_ms => 0,
            Some(_) => 1,
            None => concurrency,
        };
        TaskSlots::new(concurrency, running, Arc::strong_count(&self.slow_calls) - 1)
    }

    /// `begun`: before the cycle that gave the lease, so that its age is never taken for less.
    fn start_call(&mut self, LeasedTask { mut task, is_slow }: LeasedTask, begun: Instant) {
        task.lease_age_ms = Some(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        let lease = TaskLease { task: task.id, key: task.key.clone(), token: task.token };
        let (wait_ms, slow_after) = (task.retry_wait_ms, Duration::from_millis(task.slow_after_ms));
        let (clock, metrics, slow) =
            (self.clock.clone(), self.metrics.clone(), is_slow.then(|| self.slow_calls.clone()));
        let (call, absence) = (self.handler.run(task), self.store.database.absence());
        self.in_flight.spawn(async move {
            let started = Instant::now();
            let result = tokio::select! {
                biased;
                result = call => result,
                // Another gateway may call the handler for this key from now on.
                () = absence => {
                    metrics.count_attempt(AttemptResult::Lost);
                    return Some(UnrecordedOutcome::released(lease, is_slow));
                }
            };
            drop(slow);
            let (attempt, outcome) = match result {
                TaskResult::Returned(TaskEnd::Recorded) => (AttemptResult::Ok, None),
                TaskResult::Returned(TaskEnd::Lost) => (AttemptResult::Lost, None),
                TaskResult::Returned(TaskEnd::Unrecorded) => {
                    (AttemptResult::Ok, Some(UnrecordedOutcome::done(lease, started.elapsed() > slow_after)))
                }
                TaskResult::Failed(reason) => {
                    (AttemptResult::Failed, Some(UnrecordedOutcome::failed(lease, clock.now_ms(), wait_ms, reason)))
                }
                // No call of the handler, so it is not counted.
                TaskResult::NotStarted => return Some(UnrecordedOutcome::released(lease, is_slow)),
            };
            metrics.count_attempt(attempt);
            outcome
        });
    }

    async fn wait(&mut self, next: NextPoll) {
        let (due_ms, wait) = match next {
            NextPoll::Now => {
                self.collect_finished();
                return;
            }
            NextPoll::WhenDue { due_ms } => (due_ms, POLL_INTERVAL),
            NextPoll::After(wait) => (NEVER_MS, wait),
        };
        let is_idle = matches!(next, NextPoll::WhenDue { .. });
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = self.wake.notified(), if is_idle => {}
            Some(result) = self.in_flight.join_next(), if is_idle => self.record_finished(result),
            () = self.clock.sleep_until(due_ms), if due_ms < NEVER_MS => {}
            () = tokio::time::sleep(wait) => {}
        }
        self.collect_finished();
    }

    /// All calls that have ended meanwhile share the next cycle.
    fn collect_finished(&mut self) {
        while let Some(result) = self.in_flight.try_join_next() {
            self.record_finished(result);
        }
    }

    fn record_finished(&mut self, result: Result<Option<UnrecordedOutcome>, tokio::task::JoinError>) {
        match result {
            Ok(Some(outcome)) => self.unrecorded.push(outcome),
            Ok(None) => self.has_new_outcomes = true,
            // Its lease expires.
            Err(error) => tracing::error!(%error, queue = self.store.table(), "a task of a queue ended badly"),
        }
    }

    async fn run_maintenance(&mut self, now_ms: i64) -> Result<(), StorageError> {
        if self.last_measured_at.is_none_or(|measured_at| measured_at.elapsed() >= MEASURE_INTERVAL) {
            self.metrics.set_gauges(&self.store.stats(now_ms).await?, now_ms);
            self.last_measured_at = Some(Instant::now());
        }
        if Instant::now() >= self.next_pruning_at {
            let may_have_more = self.store.prune_batch(now_ms).await?;
            self.next_pruning_at = Instant::now() + if may_have_more { PRUNE_BATCH_INTERVAL } else { PRUNE_INTERVAL };
        }
        Ok(())
    }

    /// Waits for calls in flight, and records their outcomes. The leases of those that do not end expire.
    async fn drain(mut self) {
        let limit = self.drain_timeout;
        let all = async {
            while let Some(result) = self.in_flight.join_next().await {
                self.record_finished(result);
            }
        };
        let _ = tokio::time::timeout(limit, all).await;
        let left = self.in_flight.len();
        self.in_flight.shutdown().await;
        if left > 0 {
            tracing::info!(
                queue = self.store.table(),
                left,
                "tasks did not end: others take them when their leases expire"
            );
        }
        if self.has_new_outcomes || !self.unrecorded.is_empty() {
            let none = TaskSlots { free: 0, free_for_slow: 0 };
            if let Err(error) = self.store.run_cycle((&self.unrecorded, None), none, self.clock.now_ms()).await {
                tracing::warn!(queue = self.store.table(), %error, "the last outcomes of a queue were not written");
            }
        }
    }
}
