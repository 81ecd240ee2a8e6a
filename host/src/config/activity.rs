//! `[activity]`: the event log and its live streams. Rule: only facts that will not be undone enter the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::Checks;

/// The activity log and its streams.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActivityConfig {
    /// Depth in blocks from which a chain event counts as a fact.
    #[schemars(range(max = 10_000))]
    pub confirmations: u64,
    /// Latest events kept in memory, from which streams are resumed without a query.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ring_events: usize,
    /// Most events that a resumed stream is given from the past.
    #[schemars(range(min = 1, max = 100_000))]
    pub replay_max: usize,
    /// Time between two comments that keep a silent stream open.
    #[schemars(range(min = 1, max = 3600))]
    pub heartbeat_s: u64,
    /// Days after which events are deleted; without it they are kept for ever.
    #[schemars(range(min = 1), example = 365)]
    pub retention_days: Option<u32>,
}

impl Default for ActivityConfig {
    fn default() -> Self {
        Self { confirmations: 3, ring_events: 4096, replay_max: 500, heartbeat_s: 25, retention_days: None }
    }
}

impl ActivityConfig {
    pub(super) fn check(&self, checks: &mut Checks<'_>) {
        if self.replay_max > self.ring_events {
            checks.refuse(
                "activity.replay_max",
                format!("{} is more than activity.ring_events ({})", self.replay_max, self.ring_events),
                "a replay is served from the ring: lower it, or raise activity.ring_events",
            );
        }
    }
}
