//! A connection from the pool.
//!
//! The rule: only a connection that is known to be clean returns to the pool. Any other is closed; the server then
//! stops its statement and rolls back its transaction. So dropping a future at any point is safe.

use crate::error::StorageError;
use sqlx::{PgConnection, Postgres, pool::PoolConnection};
use tokio::sync::OwnedSemaphorePermit;

pub struct PooledConnection {
    connection: Option<PoolConnection<Postgres>>,
    /// Limits how many transactions hold a connection.
    _transaction_permit: Option<OwnedSemaphorePermit>,
}

impl PooledConnection {
    pub fn new(connection: PoolConnection<Postgres>, transaction_permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { connection: Some(connection), _transaction_permit: transaction_permit }
    }

    pub fn get(&mut self) -> Result<&mut PgConnection, StorageError> {
        // Only `return_to_pool` and `drop` take the connection, and both end this value.
        self.connection
            .as_deref_mut()
            .ok_or_else(|| StorageError::Internal("a connection was used after its end".into()))
    }

    pub fn return_to_pool(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // Closes the socket at once; the pool opens another connection when it needs one.
            drop(connection.detach());
        }
    }
}
