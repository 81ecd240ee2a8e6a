//! Jobs in the database: when each runs next, which gateway runs it now, and how the last run ended.
//!
//! The rule: a gateway may write the result of a run only while it still holds the lease of that run. A lease is
//! identified by its holder and the start of the run.

use super::lease::{LeaseStatements, RunId, RunLease};
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use parking_lot::Mutex;
use plugin_api::{Sql, abi::Statement, manifest::MigrationSpec, sql};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// How far apart the clocks of gateways on one database may be: schedules are by those.
pub(crate) const CLOCK_SKEW_MAX_MS: i64 = 30_000;

/// The shortest time between the starts of runs that a job is woken for: that of the shortest interval.
const WOKEN_INTERVAL_MIN_MS: i64 = 100;

const TABLE: &str = "CREATE TABLE host_job_runs (
    plugin TEXT NOT NULL,
    job TEXT NOT NULL,
    schedule TEXT NOT NULL,
    next_run_ms BIGINT NOT NULL,
    lease_holder TEXT,
    lease_until_ms BIGINT,
    last_started_ms BIGINT,
    last_finished_ms BIGINT,
    last_result TEXT CHECK (last_result IN ('ok', 'failed', 'panicked', 'timed_out', 'lost')),
    last_error TEXT,
    runs BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (plugin, job)
)";

/// Deletes what is stored about the jobs of a plugin.
pub fn forget_plugin(plugin: &str) -> Statement {
    sql("DELETE FROM host_job_runs WHERE plugin = $1").bind(plugin).into()
}

/// Whether somebody asked for a run at once.
const WAKES: &str = "ALTER TABLE host_job_runs ADD COLUMN is_woken BIGINT NOT NULL DEFAULT 0";

pub fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "jobs", TABLE)
}

pub fn wakes_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "job_wakes", WAKES)
}

/// A job that is already registered keeps its next run, unless its schedule has changed.
const REGISTER: &str = "INSERT INTO host_job_runs (plugin, job, schedule, next_run_ms) VALUES ($1, $2, $3, $4)
    ON CONFLICT (plugin, job) DO UPDATE SET schedule = excluded.schedule, next_run_ms = excluded.next_run_ms
    WHERE host_job_runs.schedule <> excluded.schedule";

const RESCHEDULE: &str =
    "UPDATE host_job_runs SET next_run_ms = $4 WHERE plugin = $1 AND job = $2 AND next_run_ms = $3";

/// Also of a job that is not registered yet: registering it then sets the schedule.
const WAKE: &str = "INSERT INTO host_job_runs (plugin, job, schedule, next_run_ms, is_woken) VALUES ($1, $2, '', 0, 1)
    ON CONFLICT (plugin, job) DO UPDATE SET is_woken = 1 WHERE host_job_runs.is_woken = 0";

const FINISH: &str = "UPDATE host_job_runs SET lease_holder = NULL, lease_until_ms = NULL,
        last_finished_ms = $5, last_result = $6, last_error = $7, next_run_ms = $8,
        runs = runs + 1, failures = failures + $9
    WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4";

const RELEASE: &str = "UPDATE host_job_runs SET lease_holder = NULL, lease_until_ms = NULL
    WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4";

const LIST: &str = "SELECT plugin, job, schedule, next_run_ms, last_result, last_error, last_started_ms,
        last_finished_ms, runs, failures, lease_holder AS holder
    FROM host_job_runs ORDER BY plugin, job";

/// The jobs of all plugins in the database.
#[derive(Clone)]
pub struct JobStore {
    database: Database,
    leases: Arc<LeaseStatements>,
    wakes: Arc<Wakes>,
}

/// By plugin and job: tells the task of the job, in this process, that it was woken.
#[derive(Default)]
struct Wakes(Mutex<HashMap<(String, String), Arc<Notify>>>);

/// One job, for the operator. Times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    pub plugin: String,
    pub job: String,
    pub schedule: String,
    pub next_run_ms: i64,
    /// `ok`, `failed`, `panicked`, `timed_out`, or `lost`: its gateway ended during the run, or could not renew its lease.
    pub last_result: Option<String>,
    pub last_error: Option<String>,
    pub last_started_ms: Option<i64>,
    pub last_finished_ms: Option<i64>,
    pub runs: i64,
    /// How many runs did not end with `ok`.
    pub failures: i64,
    /// The gateway that runs the job now.
    pub holder: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct JobKey<'a> {
    pub plugin: &'a str,
    pub job: &'a str,
}

/// When a job runs next, and which gateway runs it now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct JobState {
    pub next_run_ms: i64,
    /// A run is wanted before `next_run_ms`.
    pub is_woken: bool,
    pub last_started_ms: Option<i64>,
    pub lease_holder: Option<String>,
    /// By the database's clock; of no meaning without a holder.
    pub lease_left_ms: i64,
}

/// For how long a lease is acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseLength {
    pub length: Duration,
    /// Longer than any lease of this job: one that ends later was given before the database's clock went back.
    pub longest_ms: i64,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FinishedRun {
    pub finished_ms: i64,
    pub next_run_ms: i64,
    pub result: &'static str,
    pub error: Option<String>,
}

impl Wakes {
    fn of(&self, key: JobKey<'_>) -> Arc<Notify> {
        self.0.lock().entry((key.plugin.to_owned(), key.job.to_owned())).or_default().clone()
    }
}

impl JobState {
    /// The first moment at which a run is wanted.
    pub(crate) fn due_ms(&self, now_ms: i64) -> i64 {
        if self.is_woken { self.next_run_ms.min(self.woken_ms(now_ms)) } else { self.next_run_ms }
    }

    /// At once, but a job that wakes itself does not run without a pause.
    fn woken_ms(&self, now_ms: i64) -> i64 {
        let earlier = self.last_started_ms.filter(|started_ms| *started_ms <= now_ms);
        earlier.map_or(now_ms, |started_ms| now_ms.max(started_ms.saturating_add(WOKEN_INTERVAL_MIN_MS)))
    }
}

impl JobStore {
    pub fn new(database: Database) -> Self {
        let leases = Arc::new(LeaseStatements::new(database.dialect()));
        Self { database, leases, wakes: Arc::default() }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    /// Asks for a run at once: after the one that is going on, if there is one. The task of the job in this process begins it, or the
    /// gateway that holds the lease; every other gateway sees it when it looks at the job the next time.
    pub async fn wake(&self, plugin: &str, job: &str) -> Result<(), StorageError> {
        let key = JobKey { plugin, job };
        self.database.execute(of_job(WAKE, key)).await?;
        self.wakes.of(key).notify_one();
        Ok(())
    }

    pub(crate) fn wakes_of(&self, key: JobKey<'_>) -> Arc<Notify> {
        self.wakes.of(key)
    }

    /// Every job that was ever registered, by plugin and name, also of plugins that are off now.
    pub async fn list(&self) -> Result<Vec<JobStatus>, StorageError> {
        self.database.fetch_all(sql(LIST)).await
    }

    pub(crate) async fn register(&self, key: JobKey<'_>, schedule: String, first_ms: i64) -> Result<(), StorageError> {
        self.database.execute(of_job(REGISTER, key).bind((schedule, first_ms))).await.map(drop)
    }

    pub(crate) async fn state(&self, key: JobKey<'_>) -> Result<Option<JobState>, StorageError> {
        Ok(self.database.fetch_all(of_job(self.leases.select_state.clone(), key)).await?.pop())
    }

    /// For how long nobody can acquire the lease that was seen, unless it is given back; 0 when it is free.
    pub(crate) fn held_ms(&self, state: &JobState, holder: &str, length: LeaseLength) -> i64 {
        let Some(seen) = &state.lease_holder else { return 0 };
        let is_gone = self.dialect() == Dialect::Sqlite && seen != holder;
        let left_ms = state.lease_left_ms;
        if is_gone || left_ms < 0 || left_ms > length.longest_ms { 0 } else { left_ms.saturating_add(1) }
    }

    /// Changes the next run, if it is still `old_ms`.
    pub(crate) async fn reschedule(&self, key: JobKey<'_>, old_ms: i64, next_ms: i64) -> Result<(), StorageError> {
        self.database.execute(of_job(RESCHEDULE, key).bind((old_ms, next_ms))).await.map(drop)
    }

    /// Returns whether this gateway got the lease, and so may run the job.
    pub(crate) async fn acquire(
        &self,
        key: JobKey<'_>,
        run: &RunId,
        length: LeaseLength,
    ) -> Result<bool, StorageError> {
        let acquire = of_run(self.leases.acquire.clone(), key, run).bind((millis(length.length), length.longest_ms));
        let lock = self.leases.lock.map(|lock| of_job(lock, key));
        let statements = lock.into_iter().chain([acquire]).map(|statement| CommitStatement::new(statement.into()));
        let outcomes = self.database.begin(Scope::Host).commit(statements.collect()).await?;
        Ok(outcomes.last().is_some_and(|acquired| acquired.changes == 1))
    }

    /// Extends the lease; returns whether the gateway still held it.
    pub(crate) async fn renew(&self, run: &RunLease, length: Duration) -> Result<bool, StorageError> {
        let key = JobKey { plugin: &run.plugin, job: &run.job };
        let renew = of_run(self.leases.renew.clone(), key, &run.id).bind(millis(length));
        Ok(self.database.execute(renew).await?.changes == 1)
    }

    /// Returns whether the gateway still held the lease; otherwise nothing was written.
    pub(crate) async fn finish(
        &self,
        key: JobKey<'_>,
        run: &RunId,
        finished: &FinishedRun,
    ) -> Result<bool, StorageError> {
        let FinishedRun { finished_ms, next_run_ms, result, error } = finished;
        let finish = of_run(FINISH, key, run);
        let finish = finish.bind((*finished_ms, *result, error.as_deref(), *next_run_ms, i64::from(error.is_some())));
        Ok(self.database.execute(finish).await?.changes == 1)
    }

    /// Releases the lease as if the run had never begun: the job is due at once, for any gateway.
    pub(crate) async fn release(&self, key: JobKey<'_>, run: &RunId) -> Result<bool, StorageError> {
        Ok(self.database.execute(of_run(RELEASE, key, run)).await?.changes == 1)
    }
}

/// A statement about a job: `$1` is the plugin, `$2` the job.
fn of_job(text: impl Into<Cow<'static, str>>, key: JobKey<'_>) -> Sql {
    sql(text).bind((key.plugin, key.job))
}

/// A statement about a run: also `$3`, the holder, and `$4`, when the run began.
fn of_run(text: impl Into<Cow<'static, str>>, key: JobKey<'_>, run: &RunId) -> Sql {
    of_job(text, key).bind((&*run.holder, run.started_ms))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
