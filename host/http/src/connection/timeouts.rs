//! How long a connection waits for its client. Rule: the configuration sets both times.

use gateway_config::HttpConfig;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub header_ms: u64,
    pub idle_ms: u64,
}

impl Timeouts {
    pub(crate) fn new(config: &HttpConfig) -> Self {
        Self { header_ms: config.header_read_timeout_ms, idle_ms: config.idle_timeout_ms }
    }
}
