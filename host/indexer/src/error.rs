//! Why a tick of an index failed.

use gateway_chain::ChainError;
use gateway_storage::StorageError;
use std::time::Duration;

/// A transaction with the events of one block may take this many times as long as others.
pub(crate) const BLOCK_TIME_FACTOR_MAX: u32 = 8;

#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The plugin could not apply an event.
    #[error("{0}")]
    Handler(String),
    /// The plugin declares a table that cannot be indexed.
    #[error("{0}")]
    InvalidManifest(String),
    /// The index stays stopped until an operator acts.
    #[error("{0}")]
    Unrecoverable(String),
    /// The cursor in the database is not the one that this gateway read: another gateway or an operator moved it.
    #[error("another gateway has moved the index")]
    CursorMoved,
    /// The commit would exceed the time limit of a transaction.
    #[error("a commit of several blocks takes too long here; the next ones are smaller")]
    TooSlow,
    /// One block has more events than the plugin applies within the limit.
    #[error(
        "block {block} has {events} events, and the plugin did not apply them within {limit:?}: the next attempt has twice that, up to \
         {BLOCK_TIME_FACTOR_MAX} times half of database.transaction_timeout_ms; raise that if it is not enough"
    )]
    BlockTooSlow { block: u64, events: usize, limit: Duration },
    /// The plugin could not apply its events because nothing in this process could run.
    #[error(
        "this gateway got too little processor time to apply events; what else runs on this machine, or limits it?"
    )]
    Starved,
    #[error("the plugin stops")]
    Stopping,
}

impl IndexError {
    /// The error of a commit, whose last statement expects the cursor that this gateway read.
    pub(crate) fn from_commit(error: StorageError) -> Self {
        match error {
            StorageError::Rejected(_) => Self::CursorMoved,
            error => error.into(),
        }
    }
}
