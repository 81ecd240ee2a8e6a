//! What the edge is told when it begins.

use gateway_config::{Config, HttpConfig};
use std::time::Duration;

/// Longer than the time limit of any route.
const LONGEST_ROUTE_MS: u64 = 120_000;

#[derive(Clone, Debug)]
pub struct EdgeSettings {
    pub http: HttpConfig,
    /// Until the head of the answer. A backstop only: routes have limits of their own, and some are longer than the common
    /// one.
    pub answer_timeout: Duration,
    /// Brand prefix of the gateway's own headers, for the list of headers that browsers may read.
    pub header_prefix: String,
}

impl EdgeSettings {
    pub fn new(config: &Config) -> Self {
        let http = config.http.clone();
        let answer_timeout_ms = http.request_timeout_ms.max(LONGEST_ROUTE_MS) + http.body_timeout_ms;
        Self {
            http,
            answer_timeout: Duration::from_millis(answer_timeout_ms),
            header_prefix: config.brand.header_prefix.clone(),
        }
    }
}
