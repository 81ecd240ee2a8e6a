//! A lock on a PostgreSQL database: shared by all gateways that use it, or exclusive for a restore.

use super::{error::storage_error, tools};
use crate::error::StorageError;
use secrecy::SecretString;
use sqlx::{Executor, PgConnection, Row as _};
use tokio::sync::Mutex;

/// "gateway " in ASCII: a number that other programs are unlikely to use. The server keeps advisory locks per database.
const LOCK_KEY: i64 = 0x6761_7465_7761_7920;

/// The shared lock, for as long as its connection lives.
pub struct SharedLock(Mutex<Option<PgConnection>>);

impl SharedLock {
    pub async fn acquire(url: &SecretString) -> Result<Self, StorageError> {
        let mut connection = tools::connect(url).await?;
        if try_lock(&mut connection, "SELECT pg_try_advisory_lock_shared($1)").await? {
            return Ok(Self(Mutex::new(Some(connection))));
        }
        Err(StorageError::Unavailable("it is being restored".into()))
    }

    pub async fn release(&self) {
        if let Some(connection) = self.0.lock().await.take() {
            let _ = tools::close(connection).await;
        }
    }
}

/// Acquires the exclusive lock for as long as the connection lives, unless another connection holds the lock.
pub async fn try_lock_exclusive(connection: &mut PgConnection) -> Result<bool, StorageError> {
    try_lock(connection, "SELECT pg_try_advisory_lock($1)").await
}

async fn try_lock(connection: &mut PgConnection, sql: &'static str) -> Result<bool, StorageError> {
    let row = connection.fetch_one(sqlx::query(sql).bind(LOCK_KEY)).await.map_err(storage_error)?;
    row.try_get(0).map_err(storage_error)
}
