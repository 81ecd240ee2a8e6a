//! Jobs in the database: when each runs next, which gateway runs it now, and how the last run ended.
//!
//! The rule: a gateway may write the result of a run only while it still holds the lease of that run. A lease is
//! identified by its holder and the start of the run.

use gateway_storage::{CommitStatement, Database, Scope, StorageError};
use plugin_api::abi::{Cell, MalformedRows, Rows, Statement, Value};
use serde::Serialize;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::Notify;

/// How far apart the clocks of gateways on one database may be. A lease outlives the time limit of its run by this.
pub(crate) const CLOCK_SKEW_MAX_MS: i64 = 30_000;

/// The shortest time between the starts of runs that a job is woken for: that of the shortest interval.
const WOKEN_INTERVAL_MIN_MS: i64 = 100;

/// The table, for both databases; one of the gateway's own migrations.
pub const MIGRATION: &str = "CREATE TABLE host_job_runs (
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

/// Deletes what is stored about the jobs of a plugin, whose name is plain.
pub fn forget_plugin(plugin: &str) -> String {
    format!("DELETE FROM host_job_runs WHERE plugin = '{plugin}'")
}

/// Whether somebody asked for a run at once.
pub const WAKES_MIGRATION: &str = "ALTER TABLE host_job_runs ADD COLUMN is_woken BIGINT NOT NULL DEFAULT 0";

/// A job that is already registered keeps its next run, unless its schedule has changed.
const REGISTER: &str = "INSERT INTO host_job_runs (plugin, job, schedule, next_run_ms) VALUES ($1, $2, $3, $4)
    ON CONFLICT (plugin, job) DO UPDATE SET schedule = excluded.schedule, next_run_ms = excluded.next_run_ms
    WHERE host_job_runs.schedule <> excluded.schedule";

const SELECT_STATE: &str = "SELECT next_run_ms, lease_holder, lease_until_ms, last_started_ms, is_woken
    FROM host_job_runs WHERE plugin = $1 AND job = $2";

const RESCHEDULE: &str =
    "UPDATE host_job_runs SET next_run_ms = $4 WHERE plugin = $1 AND job = $2 AND next_run_ms = $3";

/// Also of a job that is not registered yet: registering it then sets the schedule.
const WAKE: &str = "INSERT INTO host_job_runs (plugin, job, schedule, next_run_ms, is_woken) VALUES ($1, $2, '', 0, 1)
    ON CONFLICT (plugin, job) DO UPDATE SET is_woken = 1 WHERE host_job_runs.is_woken = 0";

/// Claims the lease of a job that is due or was woken; what wakes it from now on asks for another run. The next run lies in the past
/// while this one lasts, so that a run which is given up or lost is made up for. A gateway that still held it has died, and its run is counted as lost.
/// A run that began later than now, by more than clocks may differ, began before the clock went back.
const CLAIM: &str = "UPDATE host_job_runs SET
        runs = CASE WHEN lease_holder IS NULL THEN runs ELSE runs + 1 END,
        failures = CASE WHEN lease_holder IS NULL THEN failures ELSE failures + 1 END,
        last_result = CASE WHEN lease_holder IS NULL THEN last_result ELSE 'lost' END,
        last_error = CASE WHEN lease_holder IS NULL THEN last_error ELSE 'its gateway ended: ' || lease_holder END,
        last_finished_ms = CASE WHEN lease_holder IS NULL THEN last_finished_ms ELSE $5 END,
        next_run_ms = CASE WHEN next_run_ms > $5 THEN $5 ELSE next_run_ms END, is_woken = 0,
        lease_holder = $3, lease_until_ms = $4, last_started_ms = $5
    WHERE plugin = $1 AND job = $2 AND (next_run_ms <= $5 OR is_woken = 1)
        AND (lease_holder IS NULL OR lease_until_ms < $5 OR last_started_ms > $6)";

const FINISH: &str = "UPDATE host_job_runs SET lease_holder = NULL, lease_until_ms = NULL,
        last_finished_ms = $5, last_result = $6, last_error = $7, next_run_ms = $8,
        runs = runs + 1, failures = failures + $9
    WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4";

const RELEASE: &str = "UPDATE host_job_runs SET lease_holder = NULL, lease_until_ms = NULL
    WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4";

const LIST: &str = "SELECT plugin, job, schedule, next_run_ms, last_result, last_error, last_started_ms,
        last_finished_ms, runs, failures, lease_holder
    FROM host_job_runs ORDER BY plugin, job";

/// The jobs of all plugins in the database.
#[derive(Clone)]
pub struct JobStore {
    database: Database,
    wakes: Arc<Wakes>,
}

/// By plugin and job: tells the task of the job, in this process, that it was woken.
#[derive(Default)]
struct Wakes(Mutex<HashMap<(String, String), Arc<Notify>>>);

/// One job, for the operator. Times are Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobStatus {
    pub plugin: String,
    pub job: String,
    pub schedule: String,
    pub next_run_ms: i64,
    /// `ok`, `failed`, `panicked`, `timed_out`, or `lost`: its gateway ended during the run.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobState {
    pub next_run_ms: i64,
    /// A run is wanted before `next_run_ms`.
    pub is_woken: bool,
    pub last_started_ms: Option<i64>,
    pub lease: Option<Lease>,
}

/// The right to run a job once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub holder: String,
    pub started_ms: i64,
    pub until_ms: i64,
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
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.entry((key.plugin.to_owned(), key.job.to_owned())).or_default().clone()
    }
}

impl JobState {
    /// The first moment at which the job can be claimed.
    pub fn due_ms(&self, now_ms: i64) -> i64 {
        let wanted_ms = if self.is_woken { self.next_run_ms.min(self.woken_ms(now_ms)) } else { self.next_run_ms };
        match &self.lease {
            Some(lease) if lease.started_ms <= latest_start_ms(now_ms) => {
                wanted_ms.max(lease.until_ms.saturating_add(1))
            }
            _ => wanted_ms,
        }
    }

    /// At once, but a job that wakes itself does not run without a pause.
    fn woken_ms(&self, now_ms: i64) -> i64 {
        let earlier = self.last_started_ms.filter(|started_ms| *started_ms <= now_ms);
        earlier.map_or(now_ms, |started_ms| now_ms.max(started_ms.saturating_add(WOKEN_INTERVAL_MIN_MS)))
    }
}

impl JobStore {
    pub fn new(database: Database) -> Self {
        Self { database, wakes: Arc::default() }
    }

    /// Asks for a run at once: after the one that is going on, if there is one. The task of the job in this process begins it, or the
    /// gateway that holds the lease; every other gateway sees it when it looks at the job the next time.
    pub async fn wake(&self, plugin: &str, job: &str) -> Result<(), StorageError> {
        self.execute(statement(WAKE, [text(plugin), text(job)])).await?;
        self.wakes.of(JobKey { plugin, job }).notify_one();
        Ok(())
    }

    pub(crate) fn wakes_of(&self, key: JobKey<'_>) -> Arc<Notify> {
        self.wakes.of(key)
    }

    /// Every job that was ever registered, by plugin and name, also of plugins that are off now.
    pub async fn list(&self) -> Result<Vec<JobStatus>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement(LIST, [])).await?;
        read_rows(&rows, read_status)
    }

    pub(crate) async fn register(&self, key: JobKey<'_>, schedule: String, first_ms: i64) -> Result<(), StorageError> {
        let params = [text(key.plugin), text(key.job), Value::Text(schedule.into()), Value::Int(first_ms)];
        self.execute(statement(REGISTER, params)).await?;
        Ok(())
    }

    pub(crate) async fn state(&self, key: JobKey<'_>) -> Result<Option<JobState>, StorageError> {
        let rows = self.database.read(&Scope::Host, statement(SELECT_STATE, [text(key.plugin), text(key.job)])).await?;
        Ok(read_rows(&rows, read_state)?.pop())
    }

    /// Changes the next run, if it is still `old_ms`.
    pub(crate) async fn reschedule(&self, key: JobKey<'_>, old_ms: i64, next_ms: i64) -> Result<(), StorageError> {
        let params = [text(key.plugin), text(key.job), Value::Int(old_ms), Value::Int(next_ms)];
        self.execute(statement(RESCHEDULE, params)).await?;
        Ok(())
    }

    /// Returns whether this gateway got the lease, and so may run the job.
    pub(crate) async fn claim(&self, key: JobKey<'_>, lease: &Lease) -> Result<bool, StorageError> {
        let params = [
            text(key.plugin),
            text(key.job),
            text(&lease.holder),
            Value::Int(lease.until_ms),
            Value::Int(lease.started_ms),
            Value::Int(latest_start_ms(lease.started_ms)),
        ];
        Ok(self.execute(statement(CLAIM, params)).await? == 1)
    }

    /// Returns whether the gateway still held the lease; otherwise nothing was written.
    pub(crate) async fn finish(&self, key: JobKey<'_>, lease: &Lease, run: &FinishedRun) -> Result<bool, StorageError> {
        let params = [
            text(key.plugin),
            text(key.job),
            text(&lease.holder),
            Value::Int(lease.started_ms),
            Value::Int(run.finished_ms),
            text(run.result),
            run.error.as_deref().map_or(Value::Null, text),
            Value::Int(run.next_run_ms),
            Value::Int(i64::from(run.error.is_some())),
        ];
        Ok(self.execute(statement(FINISH, params)).await? == 1)
    }

    /// Releases the lease as if the run had never begun: the job is due at once, for any gateway.
    pub(crate) async fn release(&self, key: JobKey<'_>, lease: &Lease) -> Result<bool, StorageError> {
        let params = [text(key.plugin), text(key.job), text(&lease.holder), Value::Int(lease.started_ms)];
        Ok(self.execute(statement(RELEASE, params)).await? == 1)
    }

    async fn execute(&self, statement: Statement) -> Result<u64, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let outcomes = transaction.commit(vec![CommitStatement::new(statement)]).await?;
        Ok(outcomes.iter().map(|outcome| outcome.changes).sum())
    }
}

fn latest_start_ms(now_ms: i64) -> i64 {
    now_ms.saturating_add(CLOCK_SKEW_MAX_MS)
}

fn statement(sql: &'static str, params: impl IntoIterator<Item = Value>) -> Statement {
    Statement { sql: sql.into(), params: params.into_iter().collect() }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn read_rows<T>(rows: &Rows, read: impl Fn(&[Cell<'_>]) -> Option<T>) -> Result<Vec<T>, StorageError> {
    decode(rows, read).map_err(|error| StorageError::Internal(error.to_string()))
}

fn decode<T>(rows: &Rows, read: impl Fn(&[Cell<'_>]) -> Option<T>) -> Result<Vec<T>, MalformedRows> {
    let width = rows.columns()?.len().max(1);
    let cells = rows.cells()?.collect::<Result<Vec<_>, _>>()?;
    cells.chunks(width).map(|row| read(row).ok_or(MalformedRows)).collect()
}

fn read_state(row: &[Cell<'_>]) -> Option<JobState> {
    let &[next_run, holder, until, started, is_woken] = row else { return None };
    let last_started_ms = nullable(int_of, started)?;
    let lease = match holder {
        Cell::Null => None,
        _ => Some(Lease {
            holder: text_of(holder)?,
            started_ms: last_started_ms.unwrap_or(0),
            until_ms: nullable(int_of, until)?.unwrap_or(0),
        }),
    };
    Some(JobState { next_run_ms: int_of(next_run)?, is_woken: int_of(is_woken)? == 1, last_started_ms, lease })
}

fn read_status(row: &[Cell<'_>]) -> Option<JobStatus> {
    let &[plugin, job, schedule, next_run, result, error, started, finished, runs, failures, holder] = row else {
        return None;
    };
    Some(JobStatus {
        plugin: text_of(plugin)?,
        job: text_of(job)?,
        schedule: text_of(schedule)?,
        next_run_ms: int_of(next_run)?,
        last_result: nullable(text_of, result)?,
        last_error: nullable(text_of, error)?,
        last_started_ms: nullable(int_of, started)?,
        last_finished_ms: nullable(int_of, finished)?,
        runs: int_of(runs)?,
        failures: int_of(failures)?,
        holder: nullable(text_of, holder)?,
    })
}

fn int_of(cell: Cell<'_>) -> Option<i64> {
    if let Cell::Int(value) = cell { Some(value) } else { None }
}

fn text_of(cell: Cell<'_>) -> Option<String> {
    if let Cell::Text(text) = cell { Some(text.to_owned()) } else { None }
}

/// Reads a cell that may be null; the outer None when it has another type.
fn nullable<'a, T>(read: fn(Cell<'a>) -> Option<T>, cell: Cell<'a>) -> Option<Option<T>> {
    if cell == Cell::Null { Some(None) } else { read(cell).map(Some) }
}
