//! A connection from the pool.
//!
//! The rule: only a connection that is known to be clean returns to the pool. Any other is closed; the server then
//! stops its statement and rolls back its transaction. So dropping a future at any point is safe.

use super::{
    connector::{Connector, SessionManager},
    session::Session,
};
use crate::error::StorageError;
use deadpool::managed::Object;
use std::sync::Arc;
use tokio::{runtime::Handle, sync::OwnedSemaphorePermit};

pub(crate) struct PooledConnection {
    session: Option<Object<SessionManager>>,
    connector: Arc<Connector>,
    /// Limits how many transactions hold a connection.
    _transaction_permit: Option<OwnedSemaphorePermit>,
}

impl PooledConnection {
    pub(crate) fn new(
        session: Object<SessionManager>,
        connector: Arc<Connector>,
        transaction_permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self { session: Some(session), connector, _transaction_permit: transaction_permit }
    }

    pub(crate) fn get(&mut self) -> Result<&mut Session, StorageError> {
        // Only `return_to_pool` and `drop` take the session, and both end this value.
        match &mut self.session {
            Some(session) => Ok(session),
            None => Err(StorageError::Internal("a connection was used after its end".into())),
        }
    }

    pub(crate) fn return_to_pool(mut self) {
        drop(self.session.take());
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        // Leaves the pool, which opens another connection when it needs one.
        let session = Object::take(session);
        if session.state.detects_lost_clients {
            return;
        }
        // A server that does not notice the closed socket would go on with the statement. A pooler knows the session as long
        // as it is open only.
        if let Ok(runtime) = Handle::try_current() {
            let connector = Arc::clone(&self.connector);
            runtime.spawn(async move {
                connector.cancel(&session.client.cancel_token()).await;
                drop(session);
            });
        }
    }
}
