//! Where the database is, and the limits of its connections and transactions.

use crate::{dialect::Dialect, error::StorageError};
use secrecy::{ExposeSecret, SecretString};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// `sqlite:PATH` or `postgres://user:password@host/name`; kept out of logs.
    pub url: SecretString,
    /// Sync the disk at every commit. Without it a power cut may lose commits that were acknowledged just before.
    pub synchronous_full: bool,
    /// SQLite: number of reader threads.
    pub read_connections: u32,
    /// SQLite: most transactions that share one commit.
    pub write_group_max: usize,
    /// PostgreSQL: most connections in the pool.
    pub pool_max: u32,
    /// PostgreSQL: whether statements stay prepared on their connection. A pooler that gives each transaction another
    /// connection may not support it. Without it, a result without rows has no names of columns.
    pub prepared: bool,
    /// PostgreSQL: where notifications are listened for; `None` or empty for nowhere. Never [`Self::url`] by itself: a pooler in
    /// transaction mode answers `LISTEN`, and passes on no notification.
    pub listen_url: Option<SecretString>,
    /// PostgreSQL: read replicas that plain reads may go to.
    pub read_urls: Vec<SecretString>,
    pub statement_timeout_ms: u64,
    /// A statement that takes as long at the database is logged and counted; 0 for none.
    pub slow_statement_ms: u64,
    /// Limit of a transaction from its first statement to its end.
    pub transaction_timeout_ms: u64,
    /// Limit of a transaction's time between two calls. On SQLite no other transaction writes in that time.
    pub transaction_idle_ms: u64,
    /// PostgreSQL: how old a cached response, or a read of a read replica, may be; 0 for never older than a write that was acknowledged.
    pub staleness_ms: u64,
}

impl DatabaseSettings {
    /// The documented defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: SecretString::from(url.into()),
            synchronous_full: true,
            read_connections: 4,
            write_group_max: 256,
            pool_max: 16,
            prepared: true,
            listen_url: None,
            read_urls: Vec::new(),
            statement_timeout_ms: 10_000,
            slow_statement_ms: 250,
            transaction_timeout_ms: 15_000,
            transaction_idle_ms: 2_000,
            staleness_ms: 0,
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
        Err(StorageError::Settings("the database's address begins with sqlite: or postgres://".into()))
    }

    /// PostgreSQL: most connections to one server; a transaction and a read need one each.
    pub(crate) fn connections_max(&self) -> usize {
        usize::try_from(self.pool_max.max(2)).unwrap_or(usize::MAX)
    }

    pub(crate) fn sqlite_path(&self) -> Result<PathBuf, StorageError> {
        let url = self.url.expose_secret();
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        // Each thread would open a separate database in memory.
        if path.is_empty() || path.starts_with(":memory:") || path.contains('?') {
            return Err(StorageError::Settings("the database's address is sqlite: and the path of a file".into()));
        }
        Ok(PathBuf::from(path))
    }
}
