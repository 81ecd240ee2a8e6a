//! Why a tick of an index failed.

use gateway_chain::ChainError;
use gateway_storage::StorageError;

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
