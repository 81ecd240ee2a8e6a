//! What the database takes: room on the disk, or connections.

use crate::{database::Database, dialect::Dialect, error::StorageError};
use plugin_api::sql;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseResources {
    /// SQLite: the file on the disk, and the log of what is not in it yet.
    pub file_bytes: Option<u64>,
    pub wal_bytes: Option<u64>,
    /// SQLite: what the gateway's user may still write on that disk.
    pub free_disk_bytes: Option<u64>,
    /// PostgreSQL.
    pub pool: Option<PoolStatus>,
}

/// The connections to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    pub max: usize,
    pub open: usize,
    pub idle: usize,
    /// Callers without one.
    pub waiting: usize,
}

impl Database {
    /// The size of the data, on either engine. On SQLite with what only the log has yet, unlike [`DatabaseResources::file_bytes`].
    pub async fn size_bytes(&self) -> Result<u64, StorageError> {
        let size = match self.dialect() {
            Dialect::Sqlite => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
            Dialect::Postgres => "SELECT pg_database_size(current_database())",
        };
        let sizes: Vec<u64> = self.fetch_all(sql(size)).await?;
        Ok(sizes.into_iter().next().unwrap_or_default())
    }
}
