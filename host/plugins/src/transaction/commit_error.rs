//! Why a transaction did not commit, and what its plugin is told.

use gateway_storage::StorageError;
use plugin_api::abi::{HostError, HostErrorCode};

#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    #[error("this signature was already used")]
    Replay,
    #[error("one write per address and interval")]
    TooSoon,
    #[error(transparent)]
    Storage(StorageError),
}

impl CommitError {
    /// The replay guard comes before the interval: a client that repeats a write that succeeded gets 409, not 429.
    pub(crate) fn of_guard(index: usize) -> Self {
        if index == 0 { Self::Replay } else { Self::TooSoon }
    }

    pub(crate) fn of_lost_lease() -> Self {
        Self::Storage(StorageError::Closed("its job has lost its lease: another gateway runs it".to_owned()))
    }
}

impl From<CommitError> for HostError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Storage(error) => error.into(),
            CommitError::Replay | CommitError::TooSoon => Self::new(HostErrorCode::Constraint, error.to_string()),
        }
    }
}
