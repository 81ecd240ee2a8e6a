//! How long a connection waits for its client. Rule: the configuration sets both times.

use gateway_config::HttpConfig;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub head_ms: u64,
    pub idle_ms: u64,
}

impl Timeouts {
    pub(crate) fn new(config: &HttpConfig) -> Self {
        Self { head_ms: config.header_read_timeout_ms, idle_ms: config.idle_timeout_ms }
    }

    pub(crate) fn head(self) -> Duration {
        Duration::from_millis(self.head_ms)
    }
}
