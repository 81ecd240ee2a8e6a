//! Why a pass over a nonce queue stopped early.

use gateway_chain::ChainError;
use gateway_storage::StorageError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TickError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Another gateway changed the intent since this one read it.
    #[error("another gateway works on it")]
    VersionConflict,
    /// The transaction cannot be signed.
    #[error("not signed: {0}")]
    Signing(String),
}
