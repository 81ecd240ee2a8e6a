//! Who uses a database on PostgreSQL: all gateways on it, or a restore alone.
//!
//! Every connection of a pool holds the lock in common, so that it is held again by itself after the server was away.

use super::explain::explain;
use crate::StorageError;
use sqlx::{Executor as _, PgConnection, Row as _};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Any number that nobody else uses: "gateway " in ASCII. The server counts it per database.
const LOCK_KEY: i64 = 0x6761_7465_7761_7920;

/// Lets connections in while no restore is at work.
#[derive(Clone, Default)]
pub struct Door {
    was_shut: Arc<AtomicBool>,
}

impl Door {
    /// The pool tries again for a while when this fails.
    pub async fn enter(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let is_open = ask(connection, "SELECT pg_try_advisory_lock_shared($1)").await?;
        self.was_shut.store(!is_open, Relaxed);
        if is_open { Ok(()) } else { Err(sqlx::Error::Protocol("the database is being restored".into())) }
    }

    /// Why the pool could not be opened.
    pub fn explain(&self, error: sqlx::Error) -> StorageError {
        if self.was_shut.load(Relaxed) {
            return StorageError::Unavailable("it is being restored".into());
        }
        explain(error)
    }
}

/// Whether nobody else uses the database from now on, for as long as the connection lives.
pub async fn lock_alone(connection: &mut PgConnection) -> Result<bool, StorageError> {
    ask(connection, "SELECT pg_try_advisory_lock($1)").await.map_err(explain)
}

async fn ask(connection: &mut PgConnection, sql: &'static str) -> Result<bool, sqlx::Error> {
    connection.fetch_one(sqlx::query(sql).bind(LOCK_KEY)).await?.try_get(0)
}
