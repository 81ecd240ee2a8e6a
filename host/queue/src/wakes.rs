//! Wakes the worker of a queue in this process, when a transaction that pushed to it is committed.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Notify;

/// What wakes each queue's worker, by the queue's table: no two plugins share the name of one.
#[derive(Clone, Default)]
pub struct QueueWakes(Arc<Mutex<BTreeMap<String, Arc<Notify>>>>);

impl QueueWakes {
    /// Wakes the worker of this queue. When it is not waiting, its next wait ends at once.
    pub fn wake(&self, table: &str) {
        self.of(table).notify_one();
    }

    pub(crate) fn of(&self, table: &str) -> Arc<Notify> {
        self.0.lock().entry(table.to_owned()).or_default().clone()
    }
}
