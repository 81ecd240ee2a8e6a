//! How much one call may bring back.

use super::StorageError;

/// Bytes of rows that one call returns, over all its statements.
pub const ROWS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is left of the limit during one call.
pub struct Room {
    left: usize,
}

impl Room {
    pub fn new() -> Self {
        Self { left: ROWS_BYTES_MAX }
    }

    /// Refuses a statement whose rows have grown too large.
    pub fn check(&self, bytes: usize) -> Result<(), StorageError> {
        if bytes <= self.left {
            return Ok(());
        }
        Err(StorageError::statement(format!(
            "the result is larger than {} MiB: use LIMIT",
            ROWS_BYTES_MAX / (1024 * 1024)
        )))
    }

    /// Counts a finished result.
    pub fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }
}
