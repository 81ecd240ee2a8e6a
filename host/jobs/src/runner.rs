//! Runs the jobs of one plugin: one task a job, which waits for the job's time, asks for its lease, runs it, and writes
//! down how that went.
//!
//! The rule: whatever a job or the database does, the task goes on until it is told to stop, and it never spins.

use super::{
    CLOCK_SKEW_MAX_MS, Jitter, Job, JobFailure, JobSet, JobStore,
    store::{Ending, JobKey, Lease},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use gateway_clock::Clock;
use gateway_storage::StorageError;
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Runs the job at that place of the manifest.
pub type RunJob = Arc<dyn Fn(u32) -> BoxFuture<'static, Result<(), JobFailure>> + Send + Sync>;

/// How often a task looks whether another gateway has changed the plan.
const POLL_MS: i64 = 5_000;
/// Waits after database errors double from the first to the last.
const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_DOUBLINGS_MAX: u32 = 8;
/// How often the end of a run is written before it is left to the lease to run out.
const END_TRIES_MAX: u32 = 8;
const END_TRIES_MAX_STOPPING: u32 = 2;
const ERROR_CHARS_MAX: usize = 500;

/// What the jobs of all plugins of one gateway share.
#[derive(Clone)]
pub struct JobRunner {
    pub store: JobStore,
    pub clock: Clock,
    /// This gateway, as no other one and no earlier life of it is called: a UUID v7.
    pub holder: Arc<str>,
    pub jitter: Jitter,
    /// How long a run may go on after it was told to stop.
    pub drain_timeout: Duration,
}

impl JobRunner {
    /// Starts the jobs; they end some time after `stop`, when the tracker's `wait` completes.
    pub fn start(&self, set: JobSet, run: RunJob, stop: &CancellationToken) -> TaskTracker {
        let tasks = TaskTracker::new();
        for job in set.jobs {
            let keeper = Keeper {
                runner: self.clone(),
                plugin: Arc::clone(&set.plugin),
                job,
                run: Arc::clone(&run),
                stop: stop.clone(),
            };
            tasks.spawn(keeper.keep());
        }
        tasks.close();
        tasks
    }
}

/// Keeps one job running.
struct Keeper {
    runner: JobRunner,
    plugin: Arc<str>,
    job: Job,
    run: RunJob,
    stop: CancellationToken,
}

/// How a run ended, if it was not cut off because the gateway stops.
enum Outcome {
    Done(Result<(), JobFailure>),
    TimedOut,
}

impl Keeper {
    async fn keep(self) {
        let (mut is_registered, mut errors) = (false, 0);
        while !self.stop.is_cancelled() {
            match self.turn(&mut is_registered).await {
                Ok(wake_ms) => {
                    errors = 0;
                    self.rest(self.runner.clock.sleep_until(wake_ms)).await;
                }
                Err(error) => {
                    self.warn_database(&error);
                    self.rest(tokio::time::sleep(backoff(errors))).await;
                    errors = errors.saturating_add(1);
                }
            }
        }
    }

    async fn rest(&self, sleep: impl Future<Output = ()>) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = sleep => {}
        }
    }

    /// Runs the job if it is due and nobody else does; answers when to look again.
    async fn turn(&self, is_registered: &mut bool) -> Result<i64, StorageError> {
        let (store, timing) = (&self.runner.store, &self.job.timing);
        let now_ms = self.runner.clock.now_ms();
        if !*is_registered {
            store.register(self.key(), timing.to_string(), timing.first_ms(now_ms, self.runner.jitter)).await?;
            *is_registered = true;
        }
        let Some(plan) = store.plan(self.key()).await? else {
            *is_registered = false;
            return Ok(now_ms.saturating_add(POLL_MS));
        };
        if plan.next_run_ms > timing.latest_ms(now_ms.saturating_add(CLOCK_SKEW_MAX_MS)) {
            let next_ms = timing.next_ms(now_ms, self.runner.jitter);
            store.reschedule(self.key(), plan.next_run_ms, next_ms).await?;
            return Ok(next_ms.min(now_ms.saturating_add(POLL_MS)));
        }
        let due_ms = plan.due_ms(now_ms);
        if due_ms > now_ms {
            return Ok(due_ms.min(now_ms.saturating_add(POLL_MS)));
        }
        let lease = self.lease(now_ms);
        if !store.claim(self.key(), &lease).await? {
            return Ok(now_ms.saturating_add(POLL_MS));
        }
        if let Some(dead) = plan.lease {
            self.report("lost", &format!("its gateway ended: {}", dead.holder));
        }
        self.work(&lease).await;
        Ok(self.runner.clock.now_ms())
    }

    async fn work(&self, lease: &Lease) {
        let begun = Instant::now();
        let outcome = self.outcome().await;
        let labels = [("plugin", self.plugin.to_string()), ("job", self.job.name.to_string())];
        metrics::histogram!("gateway_job_duration_seconds", &labels).record(begun.elapsed());
        match outcome {
            Some(outcome) => self.finish(lease, outcome).await,
            None => self.release(lease).await,
        }
    }

    /// Runs the job to its end, to its time limit, or until the gateway does not wait for it any longer.
    async fn outcome(&self) -> Option<Outcome> {
        let mut run = Box::pin(AssertUnwindSafe(async { (self.run)(self.job.index).await }).catch_unwind());
        let drained = async {
            self.stop.cancelled().await;
            tokio::time::sleep(self.runner.drain_timeout).await;
        };
        let outcome = tokio::select! {
            biased;
            done = &mut run => Some(Outcome::Done(done.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))))),
            () = tokio::time::sleep(Duration::from_millis(self.job.timeout_ms)) => Some(Outcome::TimedOut),
            () = drained => None,
        };
        // The rest of the run is the plugin's code as well.
        match catch_unwind(AssertUnwindSafe(move || drop(run))) {
            Ok(()) => outcome,
            Err(panic) => Some(Outcome::Done(Err(panicked(panic.as_ref())))),
        }
    }

    async fn finish(&self, lease: &Lease, outcome: Outcome) {
        let (result, error) = self.describe(outcome);
        let finished_ms = self.runner.clock.now_ms();
        let ending = Ending {
            finished_ms,
            next_run_ms: self.job.timing.next_ms(finished_ms, self.runner.jitter),
            result,
            error,
        };
        self.report(result, ending.error.as_deref().unwrap_or_default());
        self.write_end(|| self.runner.store.finish(self.key(), lease, &ending)).await;
    }

    async fn release(&self, lease: &Lease) {
        tracing::info!(plugin = %self.plugin, job = %self.job.name, "dropped a run because the job stops");
        self.write_end(|| self.runner.store.release(self.key(), lease)).await;
    }

    async fn write_end<F>(&self, write: impl Fn() -> F)
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
            let tries_max = if self.stop.is_cancelled() { END_TRIES_MAX_STOPPING } else { END_TRIES_MAX };
            if tries + 1 >= tries_max {
                tracing::error!(
                    plugin = %self.plugin, job = %self.job.name,
                    "the end of a run could not be written; it will count as lost"
                );
                return;
            }
            self.rest(tokio::time::sleep(backoff(tries))).await;
        }
    }

    fn describe(&self, outcome: Outcome) -> (&'static str, Option<String>) {
        let (result, error) = match outcome {
            Outcome::Done(Ok(())) => return ("ok", None),
            Outcome::Done(Err(JobFailure::Failed(error))) => ("failed", error),
            Outcome::Done(Err(JobFailure::Panicked { message, location })) if location.is_empty() => {
                ("panicked", message)
            }
            Outcome::Done(Err(JobFailure::Panicked { message, location })) => {
                ("panicked", format!("{message} ({location})"))
            }
            Outcome::TimedOut => ("timed_out", format!("dropped after {} ms", self.job.timeout_ms)),
        };
        (result, Some(one_line(&error)))
    }

    fn report(&self, result: &'static str, error: &str) {
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

    fn lease(&self, now_ms: i64) -> Lease {
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

/// What a plugin says, cut to what a row and a log line hold. No control characters: PostgreSQL refuses some.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_CHARS_MAX).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::MIGRATION;
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
        let migration = MigrationSpec { version: 1, name: "jobs".into(), sql: MIGRATION.into(), postgres: None };
        let schema = Schema { scope: &Scope::Host, views: &[], migrations: &[migration] };
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
