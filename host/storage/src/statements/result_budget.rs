//! Limits how many bytes of rows one call returns.

use crate::{error::StorageError, statements::bounds::CALL_ROWS_BYTES_MAX};

/// What is left of the limit during one call.
pub(crate) struct ResultBudget {
    bytes_left: usize,
}

impl ResultBudget {
    pub(crate) fn new() -> Self {
        Self { bytes_left: CALL_ROWS_BYTES_MAX }
    }

    /// Fails when the rows of the running statement exceed what is left.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), StorageError> {
        if bytes <= self.bytes_left {
            return Ok(());
        }
        Err(StorageError::statement(format!(
            "the result is larger than {} MiB: use LIMIT",
            CALL_ROWS_BYTES_MAX / (1024 * 1024)
        )))
    }

    /// Subtracts the rows of a finished statement.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }
}
