//! The lease of a run: its statements, and the check of what the run commits. `renewal.rs` renews it while the run goes on.
//!
//! The rule: only a run that still has its lease commits anything. A lease that is not renewed is over after its length by the
//! database's clock, so clocks of gateways may differ, and its run is stopped before that. On SQLite only one gateway runs: the
//! leases of others are over at once, and nobody has to renew one.
//!
//! The lease is a task-local of the run: a plugin that keeps its handle to the gateway in its state uses the same one in jobs and
//! elsewhere, so the handle cannot carry it. Whoever spawns a task for a plugin hands the lease on ([`RunLease::inherit`]).

use gateway_storage::{CommitStatement, Dialect};
use plugin_api::sql;
use std::{sync::Arc, time::Duration};

/// How long a gateway that died keeps the others from its jobs.
pub const LEASE: Duration = Duration::from_secs(10);

tokio::task_local! {
    static RUN: Arc<RunLease>;
}

/// Names one run of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    /// The gateway that runs it.
    pub holder: String,
    /// When the run began, by the clock of its gateway.
    pub started_ms: i64,
}

/// The lease under which a run writes.
#[derive(Clone, Debug)]
pub struct RunLease {
    pub(crate) plugin: Arc<str>,
    pub(crate) job: Arc<str>,
    pub(crate) id: RunId,
    pub(crate) dialect: Dialect,
}

/// Statements in which the two databases differ.
#[derive(Debug)]
pub(crate) struct LeaseStatements {
    pub select_state: String,
    /// Before [`Self::acquire`]: it waits for what the run before is committing, and makes later commits of that run fail.
    pub lock: Option<&'static str>,
    pub acquire: String,
    pub renew: String,
}

/// The jobs of a plugin (`$1`), and for each whether its lease is not over: a gateway runs it, or did moments ago.
pub fn select_held(dialect: Dialect) -> String {
    let now_ms = dialect.now_ms();
    format!(
        "SELECT job, CASE WHEN lease_until_ms >= {now_ms} THEN 1 ELSE 0 END AS is_held
        FROM host_job_runs WHERE plugin = $1 ORDER BY job"
    )
}

impl LeaseStatements {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let now_ms = dialect.now_ms();
        let (is_gone, lock) = match dialect {
            Dialect::Sqlite => ("lease_holder <> $3 OR ", None),
            Dialect::Postgres => ("", Some("SELECT 1 FROM host_job_runs WHERE plugin = $1 AND job = $2 FOR UPDATE")),
        };
        Self {
            select_state: format!(
                "SELECT next_run_ms, is_woken, last_started_ms, lease_holder,
                    coalesce(lease_until_ms - {now_ms}, 0) AS lease_left_ms
                FROM host_job_runs WHERE plugin = $1 AND job = $2"
            ),
            lock,
            acquire: acquire(now_ms, is_gone),
            renew: format!(
                "UPDATE host_job_runs SET lease_until_ms = {now_ms} + $5
                WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4"
            ),
        }
    }
}

/// Acquires the lease of a job that is due or was woken; what wakes it from now on asks for another run. The next run lies in the past
/// while this one lasts, so that a run which is given up or lost is made up for. A gateway that still held it has died or stalled, and
/// its run is counted as lost. A lease that ends later than any can was given before the database's clock went back.
fn acquire(now_ms: &str, is_gone: &str) -> String {
    format!(
        "UPDATE host_job_runs SET
            runs = CASE WHEN lease_holder IS NULL THEN runs ELSE runs + 1 END,
            failures = CASE WHEN lease_holder IS NULL THEN failures ELSE failures + 1 END,
            last_result = CASE WHEN lease_holder IS NULL THEN last_result ELSE 'lost' END,
            last_error = CASE WHEN lease_holder IS NULL THEN last_error ELSE 'its gateway ended or stalled: ' || lease_holder END,
            last_finished_ms = CASE WHEN lease_holder IS NULL THEN last_finished_ms ELSE $4 END,
            next_run_ms = CASE WHEN next_run_ms > $4 THEN $4 ELSE next_run_ms END, is_woken = 0,
            lease_holder = $3, last_started_ms = $4, lease_until_ms = {now_ms} + $5
        WHERE plugin = $1 AND job = $2 AND (next_run_ms <= $4 OR is_woken = 1)
            AND (lease_holder IS NULL OR {is_gone}lease_until_ms < {now_ms} OR lease_until_ms > {now_ms} + $6)"
    )
}

impl RunLease {
    /// Of the run that polls the caller; none outside of a run.
    pub fn current() -> Option<Arc<Self>> {
        RUN.try_with(Arc::clone).ok()
    }

    /// The future, under the lease of the run that polls the caller: for a task that the run spawns, which would commit unchecked
    /// otherwise.
    pub fn inherit<F: Future>(task: F) -> impl Future<Output = F::Output> {
        let run = Self::current();
        async move {
            match run {
                Some(run) => run.scope(task).await,
                None => task.await,
            }
        }
    }

    pub(crate) async fn scope<F: Future>(self: Arc<Self>, run: F) -> F::Output {
        RUN.scope(self, run).await
    }

    /// The last statement of a transaction of the run: without the lease it returns no row. On PostgreSQL nobody can acquire the lease
    /// from then until the transaction is over. The lock is the weakest one, which renewals do not conflict with, and which sees
    /// a holder that is newer than the transaction's snapshot.
    pub fn check(&self) -> CommitStatement {
        let lock = match self.dialect {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR KEY SHARE",
        };
        let text = format!(
            "SELECT 1 FROM host_job_runs WHERE plugin = $1 AND job = $2 AND lease_holder = $3 AND last_started_ms = $4{lock}"
        );
        let RunId { holder, started_ms } = &self.id;
        CommitStatement::expecting_row(sql(text).bind((&*self.plugin, &*self.job, holder, *started_ms)).into())
    }
}
