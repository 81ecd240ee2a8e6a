//! Where the reads of one request go: to a read replica, as long as the request has used nothing else.
//!
//! The rule that must not break: **what a request reads later is not older than what it has read before.** So after its first
//! read of the primary, or its first transaction, it stays there. Of one read replica each read sees what the reads before it saw.

use crate::postgres::ReadReplica;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

tokio::task_local! {
    static SOURCE: ReadSource;
}

/// A read replica for the reads of one request.
pub struct ReadSource {
    read_replica: Arc<ReadReplica>,
    is_left: AtomicBool,
}

impl ReadSource {
    pub(crate) fn new(read_replica: Arc<ReadReplica>) -> Self {
        Self { read_replica, is_left: AtomicBool::new(false) }
    }

    /// Runs work whose reads may go to the read replica. Tasks that it spawns read from the primary.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        SOURCE.scope(self, work).await
    }
}

/// The read replica that a plugin's read goes to, if there is one.
pub(crate) fn current() -> Option<Arc<ReadReplica>> {
    let source = SOURCE.try_with(|source| (!source.is_left.load(Relaxed)).then(|| Arc::clone(&source.read_replica)));
    source.ok().flatten()
}

/// From here on the request reads from the primary.
pub(crate) fn leave() {
    let _ = SOURCE.try_with(|source| source.is_left.store(true, Relaxed));
}
