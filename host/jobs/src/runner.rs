//! Runs the jobs of one plugin, each in a task of its own: it waits for the job's time, acquires the lease, runs the job
//! and stores the result.
//!
//! The rule: the task survives every failure of the job and of the database until it is stopped, and it never spins.

use super::{
    job::{Job, JobFailure, JobSet},
    lease::{RunId, RunLease},
    renewal::{LeaseRenewal, LostLease},
    schedule::Jitter,
    store::{CLOCK_SKEW_MAX_MS, FinishedRun, JobKey, JobStore, LeaseLength},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use gateway_clock::{Backoff, Clock};
use gateway_storage::{Dialect, StorageError};
use gateway_telemetry::{LogContext, Span, SpanScope, with_log_context};
use plugin_api::host::sanitize_line;
use std::{
    any::Any,
    future::pending,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Runs the job with that index in the manifest.
pub type RunJob = Arc<dyn Fn(u32) -> BoxFuture<'static, Result<(), JobFailure>> + Send + Sync>;

/// How often a task checks whether another gateway has changed the job's state.
const POLL_MS: i64 = 5_000;
/// Between attempts while the database fails.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(25_600));
/// How often the result of a run is tried to be stored; after that the lease expires and the run counts as lost.
const STORE_TRIES_MAX: u32 = 8;
const STORE_TRIES_MAX_STOPPING: u32 = 2;
/// A run ends itself at its time limit ([`JobFailure::TimedOut`]); one that has not after this time more is dropped.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);
/// Of a plugin's error text, in the job's row and in the log.
const ERROR_CHARS_MAX: usize = 500;

/// Shared by the jobs of all plugins of one gateway.
#[derive(Clone)]
pub struct JobRunner {
    pub store: JobStore,
    pub clock: Clock,
    /// Identifies this process among all gateways, past ones included: a UUID v7.
    pub holder: Arc<str>,
    pub jitter: Jitter,
    /// How long a lease lasts that is not renewed, where several gateways share a database: [`LEASE`](crate::LEASE). A job may say less.
    pub lease: Duration,
    /// How long a run may continue after it was asked to stop.
    pub drain_timeout: Duration,
}

impl JobRunner {
    /// Starts the jobs. After `stop` they end when the tracker's `wait` completes.
    pub fn start(&self, set: JobSet, run: RunJob, stop: &CancellationToken) -> TaskTracker {
        let tasks = TaskTracker::new();
        for job in set.jobs {
            let task = JobTask {
                runner: self.clone(),
                plugin: Arc::clone(&set.plugin),
                job,
                run: Arc::clone(&run),
                stop: stop.clone(),
            };
            tasks.spawn(task.run_until_stopped());
        }
        tasks.close();
        tasks
    }
}

/// The task of one job.
struct JobTask {
    runner: JobRunner,
    plugin: Arc<str>,
    job: Job,
    run: RunJob,
    stop: CancellationToken,
}

/// How a run ended, unless it was dropped because the gateway stops.
enum RunOutcome {
    Completed(Result<(), JobFailure>),
    TimedOut,
    LeaseLost(LostLease),
}

/// When a task checks its job again.
enum NextCheck {
    /// By the gateway's clock.
    At(i64),
    /// When a lease is over, which no clock of the gateway decides.
    After(Duration),
}

impl JobTask {
    async fn run_until_stopped(self) {
        let (mut is_registered, mut errors) = (false, 0);
        let wakes = self.runner.store.wakes_of(self.key());
        while !self.stop.is_cancelled() {
            match self.tick(&mut is_registered).await {
                Ok(next) => {
                    errors = 0;
                    self.sleep_or_stop(async {
                        tokio::select! {
                            () = self.sleep_until(next) => {}
                            () = wakes.notified() => {}
                        }
                    })
                    .await;
                }
                Err(error) => {
                    self.warn_database(&error);
                    self.sleep_or_stop(tokio::time::sleep(BACKOFF.wait_after(errors))).await;
                    errors = errors.saturating_add(1);
                }
            }
        }
    }

    async fn sleep_or_stop(&self, sleep: impl Future<Output = ()>) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = sleep => {}
        }
    }

    async fn sleep_until(&self, next: NextCheck) {
        match next {
            NextCheck::At(wake_ms) => self.runner.clock.sleep_until(wake_ms).await,
            NextCheck::After(wait) => tokio::time::sleep(wait).await,
        }
    }

    /// Runs the job if it is due and no other gateway runs it. Returns when to check again.
    async fn tick(&self, is_registered: &mut bool) -> Result<NextCheck, StorageError> {
        let (store, schedule) = (&self.runner.store, &self.job.schedule);
        let now_ms = self.runner.clock.now_ms();
        if !*is_registered {
            store.register(self.key(), schedule.to_string(), schedule.first_ms(now_ms, self.runner.jitter)).await?;
            *is_registered = true;
        }
        let Some(state) = store.state(self.key()).await? else {
            *is_registered = false;
            return Ok(NextCheck::At(now_ms.saturating_add(POLL_MS)));
        };
        if state.next_run_ms > schedule.latest_ms(now_ms.saturating_add(CLOCK_SKEW_MAX_MS)) {
            let next_ms = schedule.next_ms(now_ms, self.runner.jitter);
            store.reschedule(self.key(), state.next_run_ms, next_ms).await?;
            return Ok(NextCheck::At(next_ms.min(now_ms.saturating_add(POLL_MS))));
        }
        let due_ms = state.due_ms(now_ms);
        if due_ms > now_ms {
            return Ok(NextCheck::At(due_ms.min(now_ms.saturating_add(POLL_MS))));
        }
        let held_ms = store.held_ms(&state, &self.runner.holder, self.lease_length());
        if held_ms > 0 {
            return Ok(NextCheck::After(Duration::from_millis(held_ms.min(POLL_MS).unsigned_abs())));
        }
        let id = RunId { holder: self.runner.holder.to_string(), started_ms: now_ms };
        let acquired = Instant::now();
        if !store.acquire(self.key(), &id, self.lease_length()).await? {
            return Ok(NextCheck::At(now_ms.saturating_add(POLL_MS)));
        }
        if let Some(lost) = state.lease_holder {
            self.record_run("lost", &format!("its gateway ended or stalled: {lost}"));
        }
        self.execute(id, acquired).await;
        Ok(NextCheck::At(self.runner.clock.now_ms()))
    }

    async fn execute(&self, id: RunId, acquired: Instant) {
        let started = Instant::now();
        let (plugin, job) = (Arc::clone(&self.plugin), Arc::clone(&self.job.name));
        let run = Arc::new(RunLease { plugin, job, id, dialect: self.runner.store.dialect() });
        let outcome = self.run_to_end(&run, acquired).await;
        let labels = [("plugin", self.plugin.to_string()), ("job", self.job.name.to_string())];
        metrics::histogram!("gateway_job_duration_seconds", &labels).record(started.elapsed());
        match outcome {
            Some(outcome) => self.finish(&run.id, outcome).await,
            None => self.release(&run.id).await,
        }
    }

    /// Runs the job to its end, beyond its time limit or until its lease is lost; None when the gateway stops and the drain timeout has
    /// passed.
    async fn run_to_end(&self, lease: &Arc<RunLease>, acquired: Instant) -> Option<RunOutcome> {
        let renewal = match self.renewal(lease, acquired) {
            Some(renewal) => Some(renewal.start().await),
            None => None,
        };
        let run = Arc::clone(lease).scope(async { (self.run)(self.job.index).await });
        let span = Span::of_job(&self.plugin, &self.job.name);
        let run = SpanScope::run(span.as_ref().map(Span::scope), run);
        let run = with_log_context(LogContext::Job { name: self.job.name.clone() }, run);
        let mut run = Box::pin(AssertUnwindSafe(run).catch_unwind());
        let drain_timeout = async {
            self.stop.cancelled().await;
            tokio::time::sleep(self.runner.drain_timeout).await;
        };
        let lost_lease = async {
            match renewal {
                Some(renewal) => renewal.lost().await,
                None => pending().await,
            }
        };
        let outcome = tokio::select! {
            biased;
            result = &mut run => {
                Some(RunOutcome::Completed(result.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))))
            }
            () = tokio::time::sleep(Duration::from_millis(self.job.timeout_ms) + TIMEOUT_GRACE) => Some(RunOutcome::TimedOut),
            () = drain_timeout => None,
            lost = lost_lease => Some(RunOutcome::LeaseLost(lost)),
        };
        if let Some(span) = span.filter(|_| !matches!(outcome, Some(RunOutcome::Completed(Ok(()))))) {
            span.fail("job_failed");
        }
        // Dropping the future runs code of the plugin, which may panic.
        match catch_unwind(AssertUnwindSafe(move || drop(run))) {
            Ok(()) => outcome,
            Err(panic) => Some(RunOutcome::Completed(Err(panicked(panic.as_ref())))),
        }
    }

    /// None where nobody else can acquire the lease.
    fn renewal(&self, lease: &Arc<RunLease>, acquired: Instant) -> Option<LeaseRenewal> {
        (lease.dialect == Dialect::Postgres).then(|| LeaseRenewal {
            store: self.runner.store.clone(),
            run: Arc::clone(lease),
            length: self.lease(),
            // A fifth is left for the run to stop.
            give_up: self.runner.lease.mul_f32(0.8),
            acquired,
            run_limit: Duration::from_millis(self.job.timeout_ms).saturating_add(self.runner.drain_timeout),
        })
    }

    async fn finish(&self, id: &RunId, outcome: RunOutcome) {
        let finished_ms = self.runner.clock.now_ms();
        let next_run_ms = match outcome {
            RunOutcome::LeaseLost(LostLease::Taken) => {
                tracing::warn!(
                    plugin = %self.plugin, job = %self.job.name,
                    "stopped a run: another gateway has taken its lease, because this one did not renew it in time"
                );
                return;
            }
            // It is made up for.
            RunOutcome::LeaseLost(LostLease::NotRenewed) => finished_ms,
            RunOutcome::Completed(_) | RunOutcome::TimedOut => {
                self.job.schedule.next_ms(finished_ms, self.runner.jitter)
            }
        };
        let (result, error) = self.result_and_error(outcome);
        let run = FinishedRun { finished_ms, next_run_ms, result, error };
        self.record_run(result, run.error.as_deref().unwrap_or_default());
        self.store_result(|| self.runner.store.finish(self.key(), id, &run)).await;
    }

    async fn release(&self, id: &RunId) {
        tracing::info!(plugin = %self.plugin, job = %self.job.name, "dropped a run because the job stops");
        self.store_result(|| self.runner.store.release(self.key(), id)).await;
    }

    async fn store_result<F>(&self, write: impl Fn() -> F)
    where
        F: Future<Output = Result<bool, StorageError>>,
    {
        for tries in 0.. {
            match write().await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::warn!(plugin = %self.plugin, job = %self.job.name, "a run ended without its lease: nothing was written");
                    return;
                }
                Err(error) => self.warn_database(&error),
            }
            let tries_max = if self.stop.is_cancelled() { STORE_TRIES_MAX_STOPPING } else { STORE_TRIES_MAX };
            if tries + 1 >= tries_max {
                tracing::error!(
                    plugin = %self.plugin, job = %self.job.name,
                    "the end of a run could not be written; it will count as lost"
                );
                return;
            }
            self.sleep_or_stop(tokio::time::sleep(BACKOFF.wait_after(tries))).await;
        }
    }

    fn result_and_error(&self, outcome: RunOutcome) -> (&'static str, Option<String>) {
        let (result, error) = match outcome {
            RunOutcome::Completed(Ok(())) => return ("ok", None),
            RunOutcome::Completed(Err(JobFailure::Failed(error))) => ("failed", error),
            RunOutcome::Completed(Err(JobFailure::TimedOut)) => return self.result_and_error(RunOutcome::TimedOut),
            RunOutcome::Completed(Err(JobFailure::Panicked { message, location })) if location.is_empty() => {
                ("panicked", message)
            }
            RunOutcome::Completed(Err(JobFailure::Panicked { message, location })) => {
                ("panicked", format!("{message} ({location})"))
            }
            RunOutcome::TimedOut => ("timed_out", format!("dropped after {} ms", self.job.timeout_ms)),
            RunOutcome::LeaseLost(_) => ("lost", "dropped because its lease could not be renewed".to_owned()),
        };
        (result, Some(sanitize_line(&error, ERROR_CHARS_MAX)))
    }

    fn record_run(&self, result: &'static str, error: &str) {
        let labels =
            [("plugin", self.plugin.to_string()), ("job", self.job.name.to_string()), ("result", result.to_owned())];
        metrics::counter!("gateway_job_runs_total", &labels).increment(1);
        match result {
            "ok" => tracing::debug!(plugin = %self.plugin, job = %self.job.name, "job done"),
            _ => tracing::warn!(plugin = %self.plugin, job = %self.job.name, result, error, "a run of a job failed"),
        }
    }

    fn warn_database(&self, error: &StorageError) {
        tracing::warn!(plugin = %self.plugin, job = %self.job.name, %error, "the database failed a job");
    }

    /// Where nobody renews it, it lasts as long as a run may: it keeps a run that does not end from being joined by another one.
    fn lease_length(&self) -> LeaseLength {
        let run_ms = self.job.timeout_ms.saturating_add(CLOCK_SKEW_MAX_MS.unsigned_abs());
        let length = match self.runner.store.dialect() {
            Dialect::Sqlite => Duration::from_millis(run_ms),
            Dialect::Postgres => self.lease(),
        };
        LeaseLength { length, longest_ms: i64::try_from(run_ms).unwrap_or(i64::MAX) }
    }

    fn lease(&self) -> Duration {
        self.job.lease.map_or(self.runner.lease, |lease| lease.min(self.runner.lease))
    }

    fn key(&self) -> JobKey<'_> {
        JobKey { plugin: &self.plugin, job: &self.job.name }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> JobFailure {
    let text = panic.downcast_ref::<&str>().copied();
    let message = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    JobFailure::Panicked { message: message.to_owned(), location: String::new() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::{migration, wakes_migration};
    use gateway_clock::ManualClock;
    use gateway_storage::{Database, DatabaseSettings, MigrationSet, Scope};
    use gateway_telemetry::MetricsRecorder;
    use plugin_api::manifest::{JobSpec, Schedule};

    #[tokio::test]
    async fn runs_are_counted_and_timed_by_plugin_job_and_result() {
        let recorder = MetricsRecorder::default();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("gateway.db").display());
        let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
        let migrations = [migration(1), wakes_migration(2)];
        let schema = MigrationSet { scope: &Scope::Host, views: &[], migrations: &migrations };
        database.migrate(&schema).await.unwrap();

        let runner = JobRunner {
            store: JobStore::new(database),
            clock: Clock::Manual(ManualClock::new(0)),
            holder: "a".into(),
            jitter: Jitter::None,
            lease: crate::LEASE,
            drain_timeout: Duration::ZERO,
        };
        let spec = |name: &str| JobSpec {
            name: name.into(),
            schedule: Schedule::EveryMs(60_000),
            timeout_ms: 1_000,
            lease_ms: None,
        };
        let set = JobSet::new("forum", &[spec("good"), spec("bad")]).unwrap();
        let run = |index| async move { if index == 0 { Ok(()) } else { Err(JobFailure::Failed("no".into())) } };
        let stop = CancellationToken::new();
        let tasks = runner.start(set, Arc::new(move |index| run(index).boxed()), &stop);
        tokio::time::timeout(Duration::from_secs(20), async {
            while runner.store.list().await.unwrap().iter().map(|job| job.runs).sum::<i64>() < 2 {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        stop.cancel();
        tasks.wait().await;

        let text = recorder.render();
        for line in [
            r#"gateway_job_runs_total{plugin="forum",job="good",result="ok"} 1"#,
            r#"gateway_job_runs_total{plugin="forum",job="bad",result="failed"} 1"#,
            r#"gateway_job_duration_seconds_count{plugin="forum",job="good"} 1"#,
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
