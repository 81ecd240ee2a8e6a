//! Transactions of an index that the database rolled back because of another one at the same time: they run again as a whole, by the
//! rule of [`gateway_plugins::conflicts`].
//!
//! The rule: a conflict is nobody's fault. No event is blamed for it, and no fault is counted. After the last attempt the tick fails
//! with the conflict, and the next one begins after a pause, as after any error.

use super::{error::IndexError, index::Index};
use gateway_plugins::{
    CHAIN_EVENTS,
    conflicts::{Attempts, pause},
};
use gateway_storage::StorageError;

impl Index {
    /// Whether a transaction that ended so runs again. Waits for a moment before that.
    pub(super) async fn runs_again(&self, attempts: &mut Attempts, error: Option<&IndexError>) -> bool {
        let Some(IndexError::Storage(StorageError::Conflict(_))) = error else { return false };
        let runs_again = attempts.run_again(self.plugin.name(), CHAIN_EVENTS);
        if runs_again {
            pause().await;
        }
        runs_again
    }
}
