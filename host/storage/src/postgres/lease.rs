//! A connection taken from the pool.
//!
//! The rule: only a connection that is known to be clean goes back. Any other one is closed, and the server then stops what
//! it was doing for it and rolls it back: so dropping a future in the middle of anything is safe.

use crate::StorageError;
use sqlx::{PgConnection, Postgres, pool::PoolConnection};
use tokio::sync::OwnedSemaphorePermit;

pub struct Lease {
    connection: Option<PoolConnection<Postgres>>,
    /// A transaction's place among those that may hold a connection.
    _place: Option<OwnedSemaphorePermit>,
}

impl Lease {
    pub fn new(connection: PoolConnection<Postgres>, place: Option<OwnedSemaphorePermit>) -> Self {
        Self { connection: Some(connection), _place: place }
    }

    pub fn connection(&mut self) -> Result<&mut PgConnection, StorageError> {
        // Only `give_back` and `drop` take it away, and nobody holds the lease after those.
        self.connection
            .as_deref_mut()
            .ok_or_else(|| StorageError::Internal("a connection was used after its end".into()))
    }

    pub fn give_back(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Closes the socket at once; the pool opens another connection when it needs one.
            drop(connection.detach());
        }
    }
}
