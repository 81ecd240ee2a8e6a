//! A lock on a PostgreSQL database: shared by all gateways that use it, or exclusive for a restore.
//!
//! Every connection of a pool holds the shared lock, so that reconnecting to a server that was away acquires it again.

use super::error::storage_error;
use crate::error::StorageError;
use sqlx::{Executor as _, PgConnection, Row as _};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// "gateway " in ASCII: a number that other programs are unlikely to use. The server keeps advisory locks per database.
const LOCK_KEY: i64 = 0x6761_7465_7761_7920;

/// Acquires the shared lock for each new connection of a pool, which fails while a restore runs.
#[derive(Clone, Default)]
pub struct SharedLock {
    was_refused: Arc<AtomicBool>,
}

impl SharedLock {
    /// When this fails, the pool tries again for a while.
    pub async fn acquire(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let is_acquired = try_lock(connection, "SELECT pg_try_advisory_lock_shared($1)").await?;
        self.was_refused.store(!is_acquired, Relaxed);
        if is_acquired { Ok(()) } else { Err(sqlx::Error::Protocol("the database is being restored".into())) }
    }

    /// Why the pool could not be opened.
    pub fn open_error(&self, error: sqlx::Error) -> StorageError {
        if self.was_refused.load(Relaxed) {
            return StorageError::Unavailable("it is being restored".into());
        }
        storage_error(error)
    }
}

/// Acquires the exclusive lock for as long as the connection lives, unless another connection holds the lock.
pub async fn try_lock_exclusive(connection: &mut PgConnection) -> Result<bool, StorageError> {
    try_lock(connection, "SELECT pg_try_advisory_lock($1)").await.map_err(storage_error)
}

async fn try_lock(connection: &mut PgConnection, sql: &'static str) -> Result<bool, sqlx::Error> {
    connection.fetch_one(sqlx::query(sql).bind(LOCK_KEY)).await?.try_get(0)
}
