//! Writes that the database rolled back because of another one at the same time: they run again as a whole.
//!
//! The rule, for writes of plugins, of services and of an index: at most [`WRITE_ATTEMPTS_MAX`] attempts. An attempt that nothing of this
//! process could be in the way of, and that conflicted nevertheless, is followed by a pause: such are attempts that ran alone
//! ([`crate::WriteAdmission`]), and all of an index, which takes no permit. Each attempt that conflicted is counted, and each write that
//! was given up.
//!
//! The closure of a plugin's write can only run again on the plugin's side of the ABI: that loop is
//! `plugin-api/src/sdk/write.rs`, with the same limit; its pauses are made here, where the next attempt waits for its permit.

use plugin_api::host::WRITE_ATTEMPTS_MAX;
use std::{ops::RangeInclusive, time::Duration};

/// Several times as long as most transactions take.
const PAUSE_MS: RangeInclusive<u64> = 5..=50;

/// The attempts of one write.
pub struct Attempts {
    number: u32,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { number: 1 }
    }
}

impl Attempts {
    /// Of the attempt that runs now, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether a write that conflicted in this attempt runs again; otherwise it is given up.
    pub fn run_again(&mut self, plugin: &str, operation: &str) -> bool {
        if self.number >= WRITE_ATTEMPTS_MAX {
            count_given_up(plugin, operation);
            return false;
        }
        self.number += 1;
        true
    }
}

/// One attempt.
pub(crate) fn count(plugin: &str, operation: &str) {
    let labels = [("plugin", plugin.to_owned()), ("operation", operation.to_owned())];
    metrics::counter!("gateway_database_conflicts_total", &labels).increment(1);
}

/// A write that was given up after its last attempt.
pub fn count_given_up(plugin: &str, operation: &str) {
    let labels = [("plugin", plugin.to_owned()), ("operation", operation.to_owned())];
    metrics::counter!("gateway_database_writes_given_up_total", &labels).increment(1);
}

/// A moment of another length each time, so that those that conflicted do not meet again.
pub async fn pause() {
    tokio::time::sleep(Duration::from_millis(rand::random_range(PAUSE_MS))).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_telemetry::MetricsRecorder;

    #[test]
    fn a_write_has_sixteen_attempts_and_is_counted_when_it_is_given_up() {
        let recorder = MetricsRecorder::default();
        metrics::with_local_recorder(&recorder, || {
            let mut attempts = Attempts::default();
            let runs = std::iter::from_fn(|| attempts.run_again("points", "service points.spend").then_some(()));
            assert_eq!(runs.count(), 15);
            assert_eq!(attempts.number(), 16);
        });
        let line = r#"gateway_database_writes_given_up_total{plugin="points",operation="service points.spend"} 1"#;
        assert!(recorder.render().contains(line), "{}", recorder.render());
    }
}
