//! A queue in the database.

use super::{
    tables::QueueTables,
    tasks::{EndCode, end_with_code, malformed},
};
use gateway_storage::{Database, Scope, StorageError};
use plugin_api::{
    abi::{Rows, Statement},
    host::decode_rows,
    manifest::{QueueLimits, TaskLease},
    sql,
};

/// Of all gateways on one database.
pub struct QueueStore {
    pub(crate) database: Database,
    pub(crate) tables: QueueTables,
    pub(crate) limits: QueueLimits,
    /// Whether waits are a tenth shorter or longer.
    pub(crate) has_jitter: bool,
}

/// How a task ended for which the handler recorded no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub lease: TaskLease,
    pub(crate) code: EndCode,
    pub(crate) due_ms: i64,
    pub(crate) is_slow: bool,
    pub(crate) reason: String,
}

/// What there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PollResult {
    /// Pushes that were not taken in, or leases that are over.
    pub has_news: bool,
    /// When the next key is due.
    pub fast_due_ms: i64,
    pub slow_due_ms: i64,
}

/// For the operator. Numbers of rows are counted up to 100,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueStats {
    pub due_keys: i64,
    pub running: i64,
    pub dead: i64,
    pub tasks: i64,
    pub oldest_pushed_ms: i64,
}

impl QueueStore {
    pub fn new(database: Database, table: &str, limits: QueueLimits, has_jitter: bool) -> Self {
        let tables = QueueTables::new(table, database.dialect());
        Self { database, tables, limits, has_jitter }
    }

    pub fn table(&self) -> &str {
        &self.tables.table
    }

    pub(crate) async fn look(&self) -> Result<PollResult, StorageError> {
        let statement = sql(self.tables.look.clone()).bind(self.lease_ms()).into();
        let rows = self.database.read(&Scope::Host, statement).await?;
        let looks: Vec<(i64, i64, i64, i64)> = rows_of(&rows)?;
        let [(pushed, fast_due_ms, slow_due_ms, lost)] = looks[..] else { return Err(malformed("one row")) };
        Ok(PollResult { has_news: pushed + lost > 0, fast_due_ms, slow_due_ms })
    }

    pub(crate) async fn measure(&self, now_ms: i64) -> Result<QueueStats, StorageError> {
        let rows = self.database.read(&Scope::Host, sql(self.tables.measure.clone()).bind(now_ms).into()).await?;
        let measured: Vec<(i64, i64, i64, i64, i64)> = rows_of(&rows)?;
        let [(due_keys, running, dead, tasks, oldest_pushed_ms)] = measured[..] else {
            return Err(malformed("one row"));
        };
        Ok(QueueStats { due_keys, running, dead, tasks, oldest_pushed_ms })
    }

    /// Deletes what is not needed any more: dead tasks after their time, and keys without tasks.
    pub(crate) async fn prune(&self, now_ms: i64) -> Result<(), StorageError> {
        let keep_ms = i64::try_from(self.limits.keep_dead_ms).unwrap_or(i64::MAX);
        let dead = sql(self.tables.prune_dead.clone()).bind(now_ms.saturating_sub(keep_ms)).into();
        let transaction = self.database.begin(Scope::Host);
        let mut statements: Vec<Statement> = self.tables.lock.iter().map(|lock| sql(lock.clone()).into()).collect();
        statements.extend([sql(self.tables.prune_keys.clone()).into(), dead]);
        transaction.run(statements).await?;
        transaction.commit(Vec::new()).await.map(drop)
    }

    pub(crate) fn lease_ms(&self) -> i64 {
        i64::try_from(self.limits.lease_ms).unwrap_or(i64::MAX)
    }

    /// How long to wait after this failed attempt (from 1); none when it was the last one.
    pub(crate) fn retry_wait_ms(&self, attempt: i64) -> Option<u64> {
        let index = usize::try_from(attempt - 1).unwrap_or(0);
        let wait_ms = *self.limits.backoff_ms.get(index)?;
        let tenth_ms = if self.has_jitter { wait_ms / 10 } else { 0 };
        Some(rand::random_range(wait_ms - tenth_ms..=wait_ms + tenth_ms))
    }
}

impl Ended {
    pub fn done(lease: TaskLease, is_slow: bool) -> Self {
        Self { lease, code: EndCode::Done, due_ms: 0, is_slow, reason: String::new() }
    }

    /// A wait of none: that was its last attempt.
    pub fn failed(lease: TaskLease, now_ms: i64, wait_ms: Option<u64>, reason: String) -> Self {
        match wait_ms {
            Some(wait_ms) => {
                let due_ms = now_ms.saturating_add(i64::try_from(wait_ms).unwrap_or(i64::MAX));
                Self { lease, code: EndCode::Retry, due_ms, is_slow: true, reason }
            }
            None => Self { lease, code: EndCode::Dead, due_ms: 0, is_slow: true, reason },
        }
    }

    /// It did not begin: its key is free again.
    pub fn released(lease: TaskLease, is_slow: bool) -> Self {
        Self { lease, code: EndCode::Released, due_ms: 0, is_slow, reason: String::new() }
    }

    pub(crate) fn is_released(&self) -> bool {
        self.code == EndCode::Released
    }

    pub(crate) fn statement(&self, table: &str) -> Statement {
        end_with_code(table, &self.lease, self.code, (self.due_ms, self.is_slow, &self.reason))
    }
}

pub(crate) fn rows_of<T: serde::de::DeserializeOwned>(rows: &Rows) -> Result<Vec<T>, StorageError> {
    decode_rows(rows).map_err(malformed)
}
