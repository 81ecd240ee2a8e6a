//! Runs the jobs of one plugin, each in a task of its own: it waits for the job's time, claims the lease, runs the job
//! and stores the result.
//!
//! The rule: the task survives every failure of the job and of the database until it is stopped, and it never spins.

use super::{
    job::{Job, JobFailure, JobSet},
    schedule::Jitter,
    store::{CLOCK_SKEW_MAX_MS, FinishedRun, JobKey, JobStore, Lease},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use gateway_clock::Clock;
use gateway_storage::{StorageError, sanitize_line};
use gateway_telemetry::{Work, with_work};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Runs the job with that index in the manifest.
pub type RunJob = Arc<dyn Fn(u32) -> BoxFuture<'static, Result<(), JobFailure>> + Send + Sync>;

/// How often a task checks whether another gateway has changed the job's state.
const POLL_MS: i64 = 5_000;
/// Waits after database errors start with this and double.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_DOUBLINGS_MAX: u32 = 8;
/// How often the result of a run is tried to be stored; after that the lease expires and the run counts as lost.
const STORE_TRIES_MAX: u32 = 8;
const STORE_TRIES_MAX_STOPPING: u32 = 2;
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
}

impl JobTask {
    async fn run_until_stopped(self) {
        let (mut is_registered, mut errors) = (false, 0);
        let wakes = self.runner.store.wakes_of(self.key());
        while !self.stop.is_cancelled() {
            match self.tick(&mut is_registered).await {
                Ok(wake_ms) => {
                    errors = 0;
                    self.sleep_or_stop(async {
                        tokio::select! {
                            () = self.runner.clock.sleep_until(wake_ms) => {}
                            () = wakes.notified() => {}
                        }
                    })
                    .await;
                }
                Err(error) => {
                    self.warn_database(&error);
                    self.sleep_or_stop(tokio::time::sleep(backoff(errors))).await;
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

    /// Runs the job if it is due and no other gateway runs it. Returns when to check again.
    async fn tick(&self, is_registered: &mut bool) -> Result<i64, StorageError> {
        let (store, schedule) = (&self.runner.store, &self.job.schedule);
        let now_ms = self.runner.clock.now_ms();
        if !*is_registered {
            store.register(self.key(), schedule.to_string(), schedule.first_ms(now_ms, self.runner.jitter)).await?;
            *is_registered = true;
        }
        let Some(state) = store.state(self.key()).await? else {
            *is_registered = false;
            return Ok(now_ms.saturating_add(POLL_MS));
        };
        if state.next_run_ms > schedule.latest_ms(now_ms.saturating_add(CLOCK_SKEW_MAX_MS)) {
            let next_ms = schedule.next_ms(now_ms, self.runner.jitter);
            store.reschedule(self.key(), state.next_run_ms, next_ms).await?;
            return Ok(next_ms.min(now_ms.saturating_add(POLL_MS)));
        }
        let due_ms = state.due_ms(now_ms);
        if due_ms > now_ms {
            return Ok(due_ms.min(now_ms.saturating_add(POLL_MS)));
        }
        let lease = self.new_lease(now_ms);
        if !store.claim(self.key(), &lease).await? {
            return Ok(now_ms.saturating_add(POLL_MS));
        }
        if let Some(lost) = state.lease {
            self.record_run("lost", &format!("its gateway ended: {}", lost.holder));
        }
        self.execute(&lease).await;
        Ok(self.runner.clock.now_ms())
    }

    async fn execute(&self, lease: &Lease) {
        let started = Instant::now();
        let outcome = self.run_to_end().await;
        let labels = [("plugin", self.plugin.to_string()), ("job", self.job.name.to_string())];
        metrics::histogram!("gateway_job_duration_seconds", &labels).record(started.elapsed());
        match outcome {
            Some(outcome) => self.finish(lease, outcome).await,
            None => self.release(lease).await,
        }
    }

    /// Runs the job to its end or to its time limit; None when the gateway stops and the drain timeout has passed.
    async fn run_to_end(&self) -> Option<RunOutcome> {
        let run = with_work(Work::Job { name: self.job.name.clone() }, async { (self.run)(self.job.index).await });
        let mut run = Box::pin(AssertUnwindSafe(run).catch_unwind());
        let drain_timeout = async {
            self.stop.cancelled().await;
            tokio::time::sleep(self.runner.drain_timeout).await;
        };
        let outcome = tokio::select! {
            biased;
            result = &mut run => {
                Some(RunOutcome::Completed(result.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))))
            }
            () = tokio::time::sleep(Duration::from_millis(self.job.timeout_ms)) => Some(RunOutcome::TimedOut),
            () = drain_timeout => None,
        };
        // Dropping the future runs code of the plugin, which may panic.
        match catch_unwind(AssertUnwindSafe(move || drop(run))) {
            Ok(()) => outcome,
            Err(panic) => Some(RunOutcome::Completed(Err(panicked(panic.as_ref())))),
        }
    }

    async fn finish(&self, lease: &Lease, outcome: RunOutcome) {
        let (result, error) = self.result_and_error(outcome);
        let finished_ms = self.runner.clock.now_ms();
        let run = FinishedRun {
            finished_ms,
            next_run_ms: self.job.schedule.next_ms(finished_ms, self.runner.jitter),
            result,
            error,
        };
        self.record_run(result, run.error.as_deref().unwrap_or_default());
        self.store_result(|| self.runner.store.finish(self.key(), lease, &run)).await;
    }

    async fn release(&self, lease: &Lease) {
        tracing::info!(plugin = %self.plugin, job = %self.job.name, "dropped a run because the job stops");
        self.store_result(|| self.runner.store.release(self.key(), lease)).await;
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
            self.sleep_or_stop(tokio::time::sleep(backoff(tries))).await;
        }
    }

    fn result_and_error(&self, outcome: RunOutcome) -> (&'static str, Option<String>) {
        let (result, error) = match outcome {
            RunOutcome::Completed(Ok(())) => return ("ok", None),
            RunOutcome::Completed(Err(JobFailure::Failed(error))) => ("failed", error),
            RunOutcome::Completed(Err(JobFailure::Panicked { message, location })) if location.is_empty() => {
                ("panicked", message)
            }
            RunOutcome::Completed(Err(JobFailure::Panicked { message, location })) => {
                ("panicked", format!("{message} ({location})"))
            }
            RunOutcome::TimedOut => ("timed_out", format!("dropped after {} ms", self.job.timeout_ms)),
        };
        (result, Some(sanitize_line(&error, ERROR_CHARS_MAX)))
    }

    fn record_run(&self, result: &'static str, error: &str) {
        let labels =
            [("plugin", self.plugin.to_string()), ("job", self.job.name.to_string()), ("result", result.to_owned())];
        metrics::counter!("gateway_job_runs_total", &labels).increment(1);
        match result {
            "ok" => tracing::debug!(plugin = %self.plugin, job = %self.job.name, "job done"),
            _ => tracing::warn!(plugin = %self.plugin, job = %self.job.name, result, error, "job did not end well"),
        }
    }

    fn warn_database(&self, error: &StorageError) {
        tracing::warn!(plugin = %self.plugin, job = %self.job.name, %error, "the database failed a job");
    }

    fn new_lease(&self, now_ms: i64) -> Lease {
        let length_ms = i64::try_from(self.job.timeout_ms).unwrap_or(i64::MAX).saturating_add(CLOCK_SKEW_MAX_MS);
        Lease { holder: self.runner.holder.to_string(), started_ms: now_ms, until_ms: now_ms.saturating_add(length_ms) }
    }

    fn key(&self) -> JobKey<'_> {
        JobKey { plugin: &self.plugin, job: &self.job.name }
    }
}

fn backoff(errors: u32) -> Duration {
    BACKOFF_FIRST.saturating_mul(1 << errors.min(BACKOFF_DOUBLINGS_MAX))
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
    use crate::{MIGRATION, WAKES_MIGRATION};
    use gateway_clock::ManualClock;
    use gateway_storage::{Database, DatabaseSettings, Schema, Scope};
    use gateway_telemetry::MetricsRecorder;
    use plugin_api::manifest::{JobSpec, MigrationSpec, Schedule};

    #[tokio::test]
    async fn runs_are_counted_and_timed_by_plugin_job_and_result() {
        let recorder = MetricsRecorder::default();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("gateway.db").display());
        let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
        let steps = (1..).zip([MIGRATION, WAKES_MIGRATION]);
        let step = |(version, sql): (u32, &str)| MigrationSpec {
            version,
            name: "jobs".into(),
            sql: sql.into(),
            postgres: None,
        };
        let migrations: Vec<_> = steps.map(step).collect();
        let schema = Schema { scope: &Scope::Host, views: &[], migrations: &migrations };
        database.migrate(&schema).await.unwrap();

        let runner = JobRunner {
            store: JobStore::new(database),
            clock: Clock::Manual(ManualClock::new(0)),
            holder: "a".into(),
            jitter: Jitter::None,
            drain_timeout: Duration::ZERO,
        };
        let spec = |name: &str| JobSpec { name: name.into(), schedule: Schedule::EveryMs(60_000), timeout_ms: 1_000 };
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
