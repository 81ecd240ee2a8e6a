//! A transaction on PostgreSQL.
//!
//! Isolation: READ COMMITTED, and the transactions of one plugin one after the other, by a lock that is held to the commit.
//! A plugin's tables are its own, so "read, decide, write" means there what it means behind SQLite's one writer, across
//! replicas too, and without the failures on collision of SERIALIZABLE. (With REPEATABLE READ it would not work: the
//! snapshot would be older than the lock.) The gateway's own transactions take no lock; their statements are atomic.

use super::{
    Postgres,
    execute::execute,
    explain::{Failure, explain},
    lease::Lease,
};
use crate::StorageError;
use crate::check::Admitted;
use crate::limits::Room;
use plugin_api::abi::Outcome;
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

pub struct Session {
    postgres: Arc<Postgres>,
    /// Of the lock that orders the transactions of one plugin.
    lock_key: Option<i64>,
    phase: Mutex<Phase>,
    opened: AtomicBool,
    /// Set when it was ended from outside a call.
    ended: OnceLock<&'static str>,
}

enum Phase {
    Fresh,
    Open {
        lease: Lease,
        since: Instant,
        /// When the last call ended.
        used: Instant,
    },
    Over(&'static str),
}

impl Session {
    pub fn new(postgres: Arc<Postgres>, plugin: Option<&str>) -> Self {
        Self {
            postgres,
            lock_key: plugin.map(lock_key),
            phase: Mutex::new(Phase::Fresh),
            opened: AtomicBool::new(false),
            ended: OnceLock::new(),
        }
    }

    pub fn is_opened(&self) -> bool {
        self.opened.load(Relaxed)
    }

    pub async fn run(&self, statements: &[Admitted]) -> Result<Vec<Outcome>, StorageError> {
        let mut phase = self.phase.lock().await;
        let (mut lease, since) = self.take(&mut phase, "a statement failed").await?;
        let mut room = Room::new();
        let mut outcomes = Vec::with_capacity(statements.len());
        for admitted in statements {
            match self.step(&mut lease, admitted, &mut room).await {
                Ok(outcome) => outcomes.push(outcome),
                Err(failure) => return Err(self.undo(lease, failure).await),
            }
        }
        *phase = Phase::Open { lease, since, used: Instant::now() };
        Ok(outcomes)
    }

    pub async fn commit(&self, last: &[(Admitted, bool)]) -> Result<Vec<Outcome>, StorageError> {
        let mut phase = self.phase.lock().await;
        let (mut lease, _) = self.take(&mut phase, "its commit failed").await?;
        let mut room = Room::new();
        let mut outcomes = Vec::with_capacity(last.len());
        for (index, (admitted, needs_row)) in last.iter().enumerate() {
            match self.step(&mut lease, admitted, &mut room).await {
                Ok(outcome) if *needs_row && outcome.rows.is_empty() => {
                    self.end(lease, "ROLLBACK").await?;
                    return Err(StorageError::Rejected(index));
                }
                Ok(outcome) => outcomes.push(outcome),
                Err(failure) => return Err(self.undo(lease, failure).await),
            }
        }
        self.end(lease, "COMMIT").await?;
        *phase = Phase::Over("it was committed");
        Ok(outcomes)
    }

    pub async fn rollback(&self) {
        let mut phase = self.phase.lock().await;
        let reason = match &*phase {
            Phase::Over(reason) => *reason,
            Phase::Fresh | Phase::Open { .. } => "it was rolled back",
        };
        if let Phase::Open { lease, .. } = std::mem::replace(&mut *phase, Phase::Over(reason)) {
            // When this fails, the connection is closed, which rolls back too.
            let _ = self.end(lease, "ROLLBACK").await;
        }
    }

    /// Ends it without waiting: at once, or when the call that is under way gives the connection back.
    pub fn end_now(&self, reason: &'static str) {
        let _ = self.ended.set(reason);
        if let Ok(mut phase) = self.phase.try_lock()
            && matches!(*phase, Phase::Fresh | Phase::Open { .. })
        {
            *phase = Phase::Over(reason);
        }
    }

    /// Takes the connection out, so that a future dropped from here on closes it and leaves the transaction over.
    async fn take(&self, phase: &mut Phase, reason_if_left: &'static str) -> Result<(Lease, Instant), StorageError> {
        if let (Some(reason), Phase::Fresh | Phase::Open { .. }) = (self.ended.get(), &*phase) {
            *phase = Phase::Over(reason);
        }
        match std::mem::replace(phase, Phase::Over(reason_if_left)) {
            Phase::Over(reason) => {
                *phase = Phase::Over(reason);
                Err(StorageError::closed(reason))
            }
            Phase::Open { lease, since, used } => match self.postgres.overrun(since, used) {
                None => Ok((lease, since)),
                // Dropping the lease rolls back; the server may have ended it already.
                Some(reason) => {
                    *phase = Phase::Over(reason);
                    Err(StorageError::closed(reason))
                }
            },
            Phase::Fresh => {
                self.opened.store(true, Relaxed);
                Ok((self.open().await?, Instant::now()))
            }
        }
    }

    async fn open(&self) -> Result<Lease, StorageError> {
        let mut lease = self.postgres.lease_for_transaction().await?;
        let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
        let text = match self.lock_key {
            Some(key) => format!("{begin}; SELECT pg_advisory_xact_lock({key})"),
            None => begin.to_owned(),
        };
        let connection = lease.connection()?;
        self.postgres.bounded(connection.execute(sqlx::raw_sql(AssertSqlSafe(text)))).await?.map_err(explain)?;
        Ok(lease)
    }

    async fn step(&self, lease: &mut Lease, admitted: &Admitted, room: &mut Room) -> Result<Outcome, Failure> {
        let connection = lease.connection()?;
        self.postgres.bounded(execute(connection, admitted, room)).await?
    }

    /// Rolls back before it answers, so that the caller finds the old state.
    async fn undo(&self, lease: Lease, failure: Failure) -> StorageError {
        if failure.connection_is_usable {
            let _ = self.end(lease, "ROLLBACK").await;
        }
        failure.error
    }

    async fn end(&self, mut lease: Lease, how: &'static str) -> Result<(), StorageError> {
        let connection = lease.connection()?;
        self.postgres.bounded(connection.execute(sqlx::raw_sql(how))).await?.map_err(explain)?;
        lease.give_back();
        Ok(())
    }
}

fn lock_key(plugin: &str) -> i64 {
    let digest = Sha256::digest(format!("gateway plugin {plugin}"));
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(bytes)
}
