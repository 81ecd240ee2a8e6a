//! Errors of the journal: of changing an intent, and of a pass over a nonce queue.

use gateway_chain::ChainError;
use gateway_storage::StorageError;

/// Why the database did not change an intent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Another gateway changed the intent since this one read it.
    #[error("another gateway works on it")]
    VersionConflict,
}

/// Why a pass over a nonce queue stopped early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Update(#[from] UpdateError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The transaction cannot be signed.
    #[error("not signed: {0}")]
    Signing(String),
}
