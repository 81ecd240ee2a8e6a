//! The worker of a queue in one gateway: it looks for work, runs a cycle, and runs what it got.
//!
//! The rule: it survives every failure of a handler and of the database until it is stopped, and it never spins. While there is nothing to
//! do it costs one statement for each look.

use super::{
    gauges::QueueGauges,
    scheduling_cycle::LeasedTask,
    store::{Ended, QueueStore},
    task_slots::TaskSlots,
    tasks::NEVER_MS,
    wakes::QueueWakes,
};
use futures_util::future::BoxFuture;
use gateway_clock::Clock;
use gateway_storage::StorageError;
use plugin_api::manifest::{QueueTask, TaskEnd, TaskLease};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{sync::Notify, task::JoinSet};
use tokio_util::sync::CancellationToken;

/// How often it looks for what other gateways pushed.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const MEASURE_INTERVAL: Duration = Duration::from_secs(15);
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_DOUBLINGS_MAX: u32 = 7;

/// How a call of the handler ended.
#[derive(Debug)]
pub enum TaskResult {
    Returned(TaskEnd),
    Failed(String),
    /// The plugin takes no calls now.
    NotStarted,
}

/// What runs the tasks.
pub trait RunTasks: Send + Sync + 'static {
    /// Until when the handler is paused, because it failed too often. Then one task is tried.
    fn paused_until_ms(&self) -> Option<i64>;
    fn run(&self, task: QueueTask) -> BoxFuture<'static, TaskResult>;
}

pub struct QueueWorker {
    pub plugin: String,
    pub store: QueueStore,
    pub clock: Clock,
    pub wakes: QueueWakes,
    pub tasks: Arc<dyn RunTasks>,
    pub stop: CancellationToken,
    /// How long tasks may go on after it was asked to stop.
    pub drain_timeout: Duration,
}

struct Running {
    store: Arc<QueueStore>,
    tasks: Arc<dyn RunTasks>,
    clock: Clock,
    wake: Arc<Notify>,
    gauges: QueueGauges,
    calls: JoinSet<Option<Ended>>,
    slow: Arc<()>,
    /// Of tasks without a recorded outcome.
    ended: Vec<Ended>,
    /// Outcomes were recorded that no cycle has taken in.
    is_dirty: bool,
    measured: Option<Instant>,
    pruned: Instant,
}

impl QueueWorker {
    pub async fn run(self) {
        let Self { plugin, store, clock, wakes, tasks, stop, drain_timeout } = self;
        let (wake, gauges) = (wakes.of(store.table()), QueueGauges::new(&plugin, store.table()));
        let mut running = Running {
            store: Arc::new(store),
            tasks,
            clock,
            wake,
            gauges,
            calls: JoinSet::new(),
            slow: Arc::new(()),
            ended: Vec::new(),
            is_dirty: false,
            measured: None,
            pruned: Instant::now(),
        };
        let mut errors = 0;
        while !stop.is_cancelled() {
            let pause = match running.step().await {
                Ok(next) => {
                    errors = 0;
                    next
                }
                Err(error) => {
                    tracing::warn!(plugin, queue = running.store.table(), %error, "the database failed a queue");
                    let wait = BACKOFF_FIRST.saturating_mul(1 << errors.min(BACKOFF_DOUBLINGS_MAX));
                    errors = errors.saturating_add(1);
                    Pause::Failed(wait)
                }
            };
            running.pause(pause, &stop).await;
        }
        running.drain(drain_timeout).await;
    }
}

/// What the worker waits for before its next step.
enum Pause {
    /// There may be more.
    None,
    /// A push, the end of a task, or this time.
    Idle { due_ms: i64 },
    /// The database failed, or the plugin takes no calls.
    Failed(Duration),
}

impl Running {
    async fn step(&mut self) -> Result<Pause, StorageError> {
        let now_ms = self.clock.now_ms();
        self.look_after(now_ms).await?;
        let slots = self.slots(now_ms);
        let mut due_ms = NEVER_MS;
        if self.ended.is_empty() && !self.is_dirty {
            if slots.free == 0 {
                return Ok(Pause::Idle { due_ms });
            }
            let look = self.store.look().await?;
            let slow_due_ms = if slots.free_for_slow > 0 { look.slow_due_ms } else { NEVER_MS };
            due_ms = look.fast_due_ms.min(slow_due_ms);
            if !look.has_news && due_ms > now_ms {
                return Ok(Pause::Idle { due_ms });
            }
        }
        let cycle = self.store.run_cycle(&self.ended, slots, now_ms).await?;
        let was_dirty = self.is_dirty || !self.ended.is_empty();
        let was_refused = self.ended.iter().any(Ended::is_released);
        self.ended.clear();
        self.is_dirty = false;
        self.gauges.count("lost", cycle.lost);
        self.gauges.count("dead", cycle.dead);
        let has_leased = !cycle.leased.is_empty();
        cycle.leased.into_iter().for_each(|leased| self.begin(leased));
        if was_refused {
            return Ok(Pause::Failed(LOOK_INTERVAL));
        }
        if has_leased || was_dirty {
            return Ok(Pause::None);
        }
        // Keys that are due and got no slot wait for the end of another task.
        Ok(Pause::Idle { due_ms: if due_ms > now_ms { due_ms } else { NEVER_MS } })
    }

    fn slots(&self, now_ms: i64) -> TaskSlots {
        let running = self.calls.len();
        let at_once = usize::try_from(self.store.limits.at_once.max(1)).unwrap_or(usize::MAX);
        let at_once = match self.tasks.paused_until_ms() {
            Some(until_ms) if now_ms < until_ms => 0,
            Some(_) => 1,
            None => at_once,
        };
        TaskSlots::new(at_once, running, Arc::strong_count(&self.slow) - 1)
    }

    fn begin(&mut self, LeasedTask { task, is_slow }: LeasedTask) {
        let lease = TaskLease { task: task.id, key: task.key.clone(), token: task.token };
        let (wait_ms, slow_after) = (task.retry_wait_ms, Duration::from_millis(task.slow_after_ms));
        let (clock, gauges, slow) = (self.clock.clone(), self.gauges.clone(), is_slow.then(|| self.slow.clone()));
        let call = self.tasks.run(task);
        self.calls.spawn(async move {
            let begun = Instant::now();
            let result = call.await;
            drop(slow);
            let (name, ended) = match result {
                TaskResult::Returned(TaskEnd::Recorded) => ("ok", None),
                TaskResult::Returned(TaskEnd::Lost) => ("lost", None),
                TaskResult::Returned(TaskEnd::Unrecorded) => {
                    ("ok", Some(Ended::done(lease, begun.elapsed() > slow_after)))
                }
                TaskResult::Failed(reason) => ("failed", Some(Ended::failed(lease, clock.now_ms(), wait_ms, reason))),
                TaskResult::NotStarted => ("not_started", Some(Ended::released(lease, is_slow))),
            };
            gauges.count(name, 1);
            ended
        });
    }

    async fn pause(&mut self, pause: Pause, stop: &CancellationToken) {
        let (due_ms, wait) = match pause {
            Pause::None => {
                self.collect();
                return;
            }
            Pause::Idle { due_ms } => (due_ms, LOOK_INTERVAL),
            Pause::Failed(wait) => (NEVER_MS, wait),
        };
        let is_idle = matches!(pause, Pause::Idle { .. });
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.wake.notified(), if is_idle => {}
            Some(ended) = self.calls.join_next(), if is_idle => self.note(ended),
            () = self.clock.sleep_until(due_ms), if due_ms < NEVER_MS => {}
            () = tokio::time::sleep(wait) => {}
        }
        self.collect();
    }

    /// Takes in all calls that have ended meanwhile, so that they share a cycle.
    fn collect(&mut self) {
        while let Some(ended) = self.calls.try_join_next() {
            self.note(ended);
        }
    }

    fn note(&mut self, ended: Result<Option<Ended>, tokio::task::JoinError>) {
        match ended {
            Ok(Some(ended)) => self.ended.push(ended),
            Ok(None) => self.is_dirty = true,
            // Its lease runs out.
            Err(error) => tracing::error!(%error, queue = self.store.table(), "a task of a queue ended badly"),
        }
    }

    async fn look_after(&mut self, now_ms: i64) -> Result<(), StorageError> {
        if self.measured.is_none_or(|measured| measured.elapsed() >= MEASURE_INTERVAL) {
            self.gauges.set(&self.store.measure(now_ms).await?, now_ms);
            self.measured = Some(Instant::now());
        }
        if self.pruned.elapsed() >= PRUNE_INTERVAL {
            self.store.prune(now_ms).await?;
            self.pruned = Instant::now();
        }
        Ok(())
    }

    /// Lets running tasks end, and writes down how. The leases of those that do not run out.
    async fn drain(mut self, limit: Duration) {
        let all = async {
            while let Some(ended) = self.calls.join_next().await {
                match ended {
                    Ok(Some(ended)) => self.ended.push(ended),
                    Ok(None) => self.is_dirty = true,
                    Err(_) => {}
                }
            }
        };
        let _ = tokio::time::timeout(limit, all).await;
        let left = self.calls.len();
        self.calls.shutdown().await;
        if left > 0 {
            tracing::info!(
                queue = self.store.table(),
                left,
                "tasks did not end: others take them when their leases are over"
            );
        }
        if self.is_dirty || !self.ended.is_empty() {
            let none = TaskSlots { free: 0, free_for_slow: 0 };
            if let Err(error) = self.store.run_cycle(&self.ended, none, self.clock.now_ms()).await {
                tracing::warn!(queue = self.store.table(), %error, "the last outcomes of a queue were not written");
            }
        }
    }
}
