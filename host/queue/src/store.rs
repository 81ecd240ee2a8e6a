//! A queue in the database.

use super::{
    lease_tokens::GatewayTag,
    statements::{PRUNED_MAX, QueueStatements},
    tasks::{OutcomeCode, malformed, outcome_code_statement},
};
use gateway_storage::{CommitStatement, Database, Scope, StorageError};
use plugin_api::{
    abi::Statement,
    manifest::{QueueLimits, TaskLease},
    sql,
};

/// Reads and writes one queue, which all gateways on the database share.
pub struct QueueStore {
    pub(crate) database: Database,
    pub(crate) statements: QueueStatements,
    /// Names this gateway in the tokens of its leases.
    pub(crate) gateway: Option<GatewayTag>,
    pub(crate) limits: QueueLimits,
    /// Whether waits are a tenth shorter or longer.
    pub(crate) has_jitter: bool,
}

/// How a task ended for which the handler recorded no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnrecordedOutcome {
    pub lease: TaskLease,
    pub code: OutcomeCode,
    pub due_ms: i64,
    pub is_slow: bool,
    pub reason: String,
}

/// What a poll found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollResult {
    /// Pushes were not ingested yet, or leases have expired.
    pub needs_cycle: bool,
    /// When the next key is due.
    pub fast_due_ms: i64,
    pub slow_due_ms: i64,
}

/// What the operator's metrics say of a queue. Numbers of rows are counted up to 100,000, but for those of keys that are leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueStats {
    pub due_keys: i64,
    pub running: i64,
    pub dead: i64,
    pub tasks: i64,
    /// When the key became due that has been due for the longest time. It may be later than now, when no key is due.
    pub oldest_due_ms: i64,
}

impl QueueStore {
    pub fn new(database: Database, table: &str, limits: QueueLimits, has_jitter: bool) -> Self {
        let statements = QueueStatements::new(table, database.dialect());
        let gateway = database.gateway_instance().and_then(GatewayTag::of);
        Self { database, statements, gateway, limits, has_jitter }
    }

    pub fn table(&self) -> &str {
        &self.statements.table
    }

    pub(crate) async fn poll(&self) -> Result<PollResult, StorageError> {
        let statement = sql(self.statements.poll.clone()).bind(self.lease_ms());
        let polls: Vec<(i64, i64, i64, i64)> = self.database.fetch_all(statement).await?;
        let [(pushed, fast_due_ms, slow_due_ms, expired)] = polls[..] else { return Err(malformed("one row")) };
        Ok(PollResult { needs_cycle: pushed + expired > 0, fast_due_ms, slow_due_ms })
    }

    pub(crate) async fn stats(&self, now_ms: i64) -> Result<QueueStats, StorageError> {
        let statement = sql(self.statements.select_stats.clone()).bind(now_ms);
        let stats: Vec<(i64, i64, i64, i64, i64, i64, i64)> = self.database.fetch_all(statement).await?;
        let [(due_keys, running, dead, tasks, fast_due_ms, slow_due_ms, pushed_due_ms)] = stats[..] else {
            return Err(malformed("one row"));
        };
        let oldest_due_ms = fast_due_ms.min(slow_due_ms).min(pushed_due_ms);
        Ok(QueueStats { due_keys, running, dead, tasks, oldest_due_ms })
    }

    /// Deletes what is not needed any more, up to [`PRUNED_MAX`] rows of each table: dead tasks after their time, and keys without tasks.
    /// Returns whether there may be more of them.
    pub(crate) async fn prune_batch(&self, now_ms: i64) -> Result<bool, StorageError> {
        let keep_ms = i64::try_from(self.limits.keep_dead_ms).unwrap_or(i64::MAX);
        let dead = sql(self.statements.prune_dead.clone()).bind(now_ms.saturating_sub(keep_ms)).into();
        let mut statements: Vec<Statement> = self.statements.lock.iter().map(|lock| sql(lock.clone()).into()).collect();
        statements.extend([sql(self.statements.prune_keys.clone()).into(), dead]);
        let statements = statements.into_iter().map(CommitStatement::new).collect();
        let results = self.database.begin(Scope::Host).commit(statements).await?;
        Ok(results.iter().any(|result| result.changes >= u64::from(PRUNED_MAX)))
    }

    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.limits.lease_ms).unwrap_or(i64::MAX)
    }

    /// How long to wait after this failed attempt (from 1); none when it was the last one.
    pub(crate) fn retry_wait_ms(&self, attempt: i64) -> Option<u64> {
        let index = usize::try_from(attempt - 1).unwrap_or(0);
        let wait_ms = *self.limits.backoff_ms.get(index)?;
        let tenth_ms = if self.has_jitter { wait_ms / 10 } else { 0 };
        Some(rand::random_range(wait_ms - tenth_ms..=wait_ms.saturating_add(tenth_ms)))
    }
}

impl UnrecordedOutcome {
    pub(crate) fn done(lease: TaskLease, is_slow: bool) -> Self {
        Self { lease, code: OutcomeCode::Done, due_ms: 0, is_slow, reason: String::new() }
    }

    /// The task is tried again after `wait_ms`; it is dead without a wait, because that was its last attempt.
    pub(crate) fn failed(lease: TaskLease, now_ms: i64, wait_ms: Option<u64>, reason: String) -> Self {
        match wait_ms {
            Some(wait_ms) => {
                let due_ms = now_ms.saturating_add(i64::try_from(wait_ms).unwrap_or(i64::MAX));
                Self { lease, code: OutcomeCode::Retry, due_ms, is_slow: true, reason }
            }
            None => Self { lease, code: OutcomeCode::Dead, due_ms: 0, is_slow: true, reason },
        }
    }

    /// The handler did not begin, or was given up: the key is free again, and the task has the same attempt.
    pub(crate) fn released(lease: TaskLease, is_slow: bool) -> Self {
        Self { lease, code: OutcomeCode::Released, due_ms: 0, is_slow, reason: String::new() }
    }

    pub(crate) fn is_released(&self) -> bool {
        self.code == OutcomeCode::Released
    }

    pub(crate) fn statement(&self, table: &str) -> Statement {
        outcome_code_statement(table, &self.lease, self.code, (self.due_ms, self.is_slow, &self.reason))
    }
}
