//! What a [`crate::Database`] and its transactions share: the open engine and the statement check.

use crate::{
    caching::versions::Versions, check::StatementChecker, dialect::Dialect, error::StorageError,
    postgres::PostgresEngine, sqlite::SqliteEngine, standby::read_replicas::ReadReplicas,
};
use parking_lot::Mutex;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub(crate) enum Engine {
    Sqlite(SqliteEngine),
    Postgres(Arc<PostgresEngine>),
    #[cfg(feature = "simulation")]
    Simulated(Arc<crate::simulation::SimulatedEngine>),
}

pub(crate) struct DatabaseInner {
    /// See [`crate::Database::instance_id`].
    pub instance_id: String,
    pub checker: StatementChecker,
    pub dialect: Dialect,
    pub engine: Engine,
    /// Of PostgreSQL. SQLite's engine knows every commit itself.
    pub versions: Versions,
    pub read_replicas: ReadReplicas,
    /// When a call last failed because the database was away ([`StorageError::Unavailable`]) or overloaded ([`StorageError::Busy`]).
    last_unavailable: Mutex<Option<Instant>>,
    /// When and why a write last failed with it, unless a later one succeeded.
    write_failure: Mutex<Option<(Instant, String)>>,
}

impl DatabaseInner {
    pub(crate) fn new(
        instance_id: String,
        checker: StatementChecker,
        engine: Engine,
        versions: Versions,
        read_replicas: ReadReplicas,
    ) -> Self {
        Self {
            instance_id,
            dialect: checker.dialect(),
            checker,
            engine,
            versions,
            read_replicas,
            last_unavailable: Mutex::default(),
            write_failure: Mutex::default(),
        }
    }

    /// Notes the time when the database was away or overloaded, and returns the result.
    pub(crate) fn record_availability<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(StorageError::Unavailable(_) | StorageError::Busy(_)) = &result {
            *self.last_unavailable.lock() = Some(Instant::now());
        }
        result
    }

    /// The same for a statement of a transaction, whose failure is a failed write.
    pub(crate) fn record_write<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(StorageError::Unavailable(reason)) = &result {
            *self.write_failure.lock() = Some((Instant::now(), reason.clone()));
        }
        self.record_availability(result)
    }

    /// The same for a commit, after which an earlier failure says nothing any more.
    pub(crate) fn record_commit<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if result.is_ok() && self.write_failure.lock().is_some() {
            *self.write_failure.lock() = None;
        }
        self.record_write(result)
    }

    pub(crate) fn write_failure_within(&self, window: Duration) -> Option<String> {
        self.write_failure.lock().as_ref().filter(|(at, _)| at.elapsed() < window).map(|(_, reason)| reason.clone())
    }

    pub(crate) fn was_unavailable_within(&self, window: Duration) -> bool {
        self.last_unavailable.lock().is_some_and(|last| last.elapsed() < window)
    }
}
