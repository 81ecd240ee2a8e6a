//! `[activity]`: the activity log and its streams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The activity log and its streams.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActivityConfig {
    /// Latest events kept in memory; a stream that resumes further back reads the database.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub ring_events: usize,
    /// Time between two comments that keep a silent stream open.
    #[schemars(range(min = 1, max = 3600))]
    pub heartbeat_s: u64,
}

impl Default for ActivityConfig {
    fn default() -> Self {
        Self { ring_events: 4096, heartbeat_s: 25 }
    }
}
