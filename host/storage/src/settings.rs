//! Where the database is and how long it may take.

use super::{Dialect, StorageError};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// `sqlite:PATH` or `postgres://user:password@host/name`; kept out of logs.
    pub url: SecretString,
    /// Sync the disk at every commit. Without it a power cut may take back what was acknowledged just before.
    pub synchronous_full: bool,
    /// SQLite: threads that read.
    pub read_connections: u32,
    /// SQLite: transactions that share one commit at most.
    pub write_group_max: usize,
    /// PostgreSQL: connections at most.
    pub pool_max: u32,
    pub statement_timeout_ms: u64,
    /// A transaction from its first statement to its end.
    pub transaction_timeout_ms: u64,
    /// A transaction between two calls. On SQLite nobody else writes in that time.
    pub transaction_idle_ms: u64,
}

impl DatabaseSettings {
    /// The documented defaults for a database.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: SecretString::from(url.into()),
            synchronous_full: true,
            read_connections: 4,
            write_group_max: 256,
            pool_max: 16,
            statement_timeout_ms: 10_000,
            transaction_timeout_ms: 15_000,
            transaction_idle_ms: 2_000,
        }
    }

    pub fn dialect(&self) -> Result<Dialect, StorageError> {
        let url = self.url.expose_secret();
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Dialect::Postgres);
        }
        if url.starts_with("sqlite:") {
            return Ok(Dialect::Sqlite);
        }
        Err(StorageError::Unavailable("the database's address begins with sqlite: or postgres://".into()))
    }

    pub(super) fn sqlite_path(&self) -> Result<PathBuf, StorageError> {
        let url = self.url.expose_secret();
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        // A database in memory would be another one for every thread.
        if path.is_empty() || path.starts_with(":memory:") || path.contains('?') {
            return Err(StorageError::Unavailable("the database's address is sqlite: and the path of a file".into()));
        }
        Ok(PathBuf::from(path))
    }
}
