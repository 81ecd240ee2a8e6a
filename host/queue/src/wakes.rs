//! Wakes the worker of a queue in this process, when a transaction that pushed to it is committed.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::Notify;

/// By the queues' tables, whose names no two plugins share.
#[derive(Clone, Default)]
pub struct QueueWakes(Arc<Mutex<BTreeMap<String, Arc<Notify>>>>);

impl QueueWakes {
    /// A call before the worker waits counts, too.
    pub fn wake(&self, table: &str) {
        self.of(table).notify_one();
    }

    pub(crate) fn of(&self, table: &str) -> Arc<Notify> {
        self.0.lock().entry(table.to_owned()).or_default().clone()
    }
}
