//! Counts attempts of writes that the database rolled back because of another one at the same time.

use std::{ops::RangeInclusive, time::Duration};

/// Several times as long as most transactions take.
const PAUSE_MS: RangeInclusive<u64> = 5..=50;

/// One attempt.
pub fn count(plugin: &str, operation: &str) {
    let labels = [("plugin", plugin.to_owned()), ("operation", operation.to_owned())];
    metrics::counter!("gateway_database_conflicts_total", &labels).increment(1);
}

/// A write that was given up after its last attempt.
pub fn count_given_up(plugin: &str, operation: &str) {
    let labels = [("plugin", plugin.to_owned()), ("operation", operation.to_owned())];
    metrics::counter!("gateway_database_writes_given_up_total", &labels).increment(1);
}

/// A moment of another length each time, so that those who collided do not meet again.
pub async fn pause() {
    tokio::time::sleep(Duration::from_millis(rand::random_range(PAUSE_MS))).await;
}
