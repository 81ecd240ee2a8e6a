//! What a [`crate::Database`] and its transactions share: the open engine and the statement check.

use crate::{
    check::StatementChecker, dialect::Dialect, error::StorageError, postgres::PostgresEngine, sqlite::SqliteEngine,
};
use parking_lot::Mutex;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub enum Engine {
    Sqlite(SqliteEngine),
    Postgres(Arc<PostgresEngine>),
}

pub struct DatabaseInner {
    pub checker: StatementChecker,
    pub dialect: Dialect,
    pub engine: Engine,
    /// When a call last failed with [`StorageError::Unavailable`].
    last_unavailable: Mutex<Option<Instant>>,
}

impl DatabaseInner {
    pub fn new(dialect: Dialect, engine: Engine) -> Self {
        Self { checker: StatementChecker::new(dialect), dialect, engine, last_unavailable: Mutex::default() }
    }

    /// Notes the time when the result is [`StorageError::Unavailable`], and returns the result.
    pub fn record_availability<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(StorageError::Unavailable(_)) = &result {
            *self.last_unavailable.lock() = Some(Instant::now());
        }
        result
    }

    pub fn was_unavailable_within(&self, window: Duration) -> bool {
        self.last_unavailable.lock().is_some_and(|last| last.elapsed() < window)
    }
}
