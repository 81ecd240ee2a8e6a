//! Transactions of an index that the database rolled back because of another one at the same time: they run again as a whole.
//!
//! The rule: a collision is nobody's fault. No event is blamed for it, and no fault is counted.

use super::{error::IndexError, index::Index};
use gateway_plugins::collisions;
use gateway_storage::StorageError;

/// After this many attempts the tick fails with the last conflict, and the next one begins after a pause, as after any error.
const ATTEMPTS_MAX: u32 = 8;
const OPERATION: &str = "chain events";

/// The attempts of one transaction so far.
#[derive(Default)]
pub(super) struct Attempts(u32);

impl Index {
    /// Whether a transaction that ended so runs again. Counts the collision, and waits for a moment.
    pub(super) async fn runs_again(&self, attempts: &mut Attempts, error: Option<&IndexError>) -> bool {
        let Some(IndexError::Storage(StorageError::Conflict(_))) = error else { return false };
        collisions::count(self.plugin.name(), OPERATION);
        attempts.0 += 1;
        if attempts.0 == ATTEMPTS_MAX {
            collisions::count_given_up(self.plugin.name(), OPERATION);
            return false;
        }
        collisions::pause().await;
        true
    }
}
