//! Subscriptions to the activity log.

use super::ActivityRow;
use serde::{Deserialize, Serialize};

/// The request of the capability `log_batch`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogBatchCall {
    /// Its name in the plugin. One that is new begins at the end of the log.
    pub subscription: String,
    /// Types of events; other events are passed over.
    pub types: Vec<String>,
    /// How long to wait for an event, at most 30 seconds.
    pub wait_ms: u64,
}

/// The response of `log_batch`: the next events, in ascending order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogBatch {
    /// The position of the subscription.
    pub after: i64,
    /// Its position once these events are done.
    pub up_to: i64,
    pub events: Vec<ActivityRow>,
    /// The plugin stops: ask no more.
    pub is_stopping: bool,
}

/// The request of the capability `log_done`, inside a transaction: moves the subscription from `after` to `up_to`. Fails when it is
/// not at `after`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogDoneCall {
    pub subscription: String,
    pub after: i64,
    pub up_to: i64,
}
