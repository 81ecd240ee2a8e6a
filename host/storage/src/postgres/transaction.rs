//! A transaction on PostgreSQL.
//!
//! The rule: the transactions of one plugin run one after the other, at READ COMMITTED, by a lock that is held until
//! the commit. A plugin's tables are its own, so "read, decide, write" means the same as with SQLite's one writer,
//! across replicas too, and without SERIALIZABLE's serialization failures. (REPEATABLE READ would not work: its
//! snapshot would be older than the lock.) The gateway's own transactions take no lock; each of their statements is
//! atomic.

use super::{
    engine::PostgresEngine,
    error::{ExecuteError, storage_error},
    pooled_connection::PooledConnection,
};
use crate::{
    check::CheckedStatement, commit_statement::CommitStatement, error::StorageError, result_budget::ResultBudget,
};
use plugin_api::abi::StatementResult;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Executor};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::sync::Mutex;

pub struct PostgresTransaction {
    engine: Arc<PostgresEngine>,
    /// Of the lock that orders the transactions of one plugin.
    lock_key: Option<i64>,
    phase: Mutex<Phase>,
    has_begun: AtomicBool,
    /// Set when it was ended while a call may have been running.
    end_reason: OnceLock<&'static str>,
}

enum Phase {
    NotBegun,
    Active {
        connection: PooledConnection,
        begun_at: Instant,
        /// When the last call ended.
        idle_since: Instant,
    },
    Ended(&'static str),
}

impl PostgresTransaction {
    pub fn new(engine: Arc<PostgresEngine>, plugin: Option<&str>) -> Self {
        Self {
            engine,
            lock_key: plugin.map(lock_key),
            phase: Mutex::new(Phase::NotBegun),
            has_begun: AtomicBool::new(false),
            end_reason: OnceLock::new(),
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Relaxed)
    }

    pub async fn run(&self, statements: &[CheckedStatement]) -> Result<Vec<StatementResult>, StorageError> {
        let mut phase = self.phase.lock().await;
        let (mut connection, begun_at) = self.take_connection(&mut phase, "a statement failed").await?;
        let mut budget = ResultBudget::new();
        let mut outcomes = Vec::with_capacity(statements.len());
        for statement in statements {
            match self.execute(&mut connection, statement, &mut budget).await {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return Err(self.roll_back_after(connection, error).await),
            }
        }
        *phase = Phase::Active { connection, begun_at, idle_since: Instant::now() };
        Ok(outcomes)
    }

    pub async fn commit(
        &self,
        statements: &[CommitStatement<CheckedStatement>],
    ) -> Result<Vec<StatementResult>, StorageError> {
        let mut phase = self.phase.lock().await;
        let (mut connection, _) = self.take_connection(&mut phase, "its commit failed").await?;
        let mut budget = ResultBudget::new();
        let mut outcomes = Vec::with_capacity(statements.len());
        for (index, commit) in statements.iter().enumerate() {
            match self.execute(&mut connection, &commit.statement, &mut budget).await {
                Ok(outcome) if commit.must_return_row && outcome.rows.is_empty() => {
                    self.finish(connection, "ROLLBACK").await?;
                    return Err(StorageError::Rejected(index));
                }
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => return Err(self.roll_back_after(connection, error).await),
            }
        }
        self.finish(connection, "COMMIT").await?;
        *phase = Phase::Ended("it was committed");
        Ok(outcomes)
    }

    pub async fn rollback(&self) {
        let mut phase = self.phase.lock().await;
        let reason = match &*phase {
            Phase::Ended(reason) => *reason,
            Phase::NotBegun | Phase::Active { .. } => "it was rolled back",
        };
        if let Phase::Active { connection, .. } = std::mem::replace(&mut *phase, Phase::Ended(reason)) {
            // If this fails, the connection is closed, which rolls back too.
            let _ = self.finish(connection, "ROLLBACK").await;
        }
    }

    /// Ends it without waiting: at once, or when the running call has ended.
    pub fn end(&self, reason: &'static str) {
        let _ = self.end_reason.set(reason);
        if let Ok(mut phase) = self.phase.try_lock()
            && matches!(*phase, Phase::NotBegun | Phase::Active { .. })
        {
            *phase = Phase::Ended(reason);
        }
    }

    /// Takes the connection out of the phase. A future that is dropped from here on closes the connection, and the
    /// transaction has ended with `reason_if_dropped`.
    async fn take_connection(
        &self,
        phase: &mut Phase,
        reason_if_dropped: &'static str,
    ) -> Result<(PooledConnection, Instant), StorageError> {
        if let (Some(reason), Phase::NotBegun | Phase::Active { .. }) = (self.end_reason.get(), &*phase) {
            *phase = Phase::Ended(reason);
        }
        match std::mem::replace(phase, Phase::Ended(reason_if_dropped)) {
            Phase::Ended(reason) => {
                *phase = Phase::Ended(reason);
                Err(StorageError::closed(reason))
            }
            Phase::Active { connection, begun_at, idle_since } => {
                match self.engine.exceeded_limit(begun_at, idle_since) {
                    None => Ok((connection, begun_at)),
                    // Dropping the connection rolls back; the server may have done so already.
                    Some(reason) => {
                        *phase = Phase::Ended(reason);
                        Err(StorageError::closed(reason))
                    }
                }
            }
            Phase::NotBegun => {
                self.has_begun.store(true, Relaxed);
                Ok((self.begin().await?, Instant::now()))
            }
        }
    }

    async fn begin(&self) -> Result<PooledConnection, StorageError> {
        let mut connection = self.engine.acquire_for_transaction().await?;
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        let text = match self.lock_key {
            Some(key) => format!("{begin}; SELECT pg_advisory_xact_lock({key})"),
            None => begin.to_owned(),
        };
        let executed = connection.get()?.execute(sqlx::raw_sql(AssertSqlSafe(text)));
        let begun = self.engine.with_timeout(executed).await?.map_err(storage_error);
        begun.map_err(|error| self.engine.lock_wait_error(error))?;
        Ok(connection)
    }

    async fn execute(
        &self,
        connection: &mut PooledConnection,
        statement: &CheckedStatement,
        budget: &mut ResultBudget,
    ) -> Result<StatementResult, ExecuteError> {
        self.engine.execute(connection.get()?, statement, budget).await
    }

    /// Rolls back before the error is returned, so that the caller finds the old state.
    async fn roll_back_after(&self, connection: PooledConnection, error: ExecuteError) -> StorageError {
        if error.is_connection_usable {
            let _ = self.finish(connection, "ROLLBACK").await;
        }
        error.error
    }

    /// Runs `COMMIT` or `ROLLBACK`.
    async fn finish(&self, mut connection: PooledConnection, sql: &'static str) -> Result<(), StorageError> {
        let executed = connection.get()?.execute(sqlx::raw_sql(sql));
        self.engine.with_timeout(executed).await?.map_err(storage_error)?;
        connection.return_to_pool();
        Ok(())
    }
}

fn lock_key(plugin: &str) -> i64 {
    let digest = Sha256::digest(format!("gateway plugin {plugin}"));
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(bytes)
}
