//! The settings of the listener and its middleware. Rule: they are read once, at the start.

use crate::tls::Tls;
use gateway_config::{Config, HttpConfig};
use std::time::Duration;

/// Longer than the time limit of any route.
const ROUTE_TIMEOUT_MAX_MS: u64 = 120_000;

#[derive(Clone, Debug)]
pub struct ListenerSettings {
    pub http: HttpConfig,
    /// Until the head of the response. Only a backstop: routes have limits of their own, some above the configured one.
    pub response_timeout: Duration,
    /// Brand prefix of the gateway's own headers, for the list of headers that browsers may read.
    pub header_prefix: String,
    /// `None`: the listener speaks HTTP without TLS.
    pub tls: Option<Tls>,
}

impl ListenerSettings {
    pub fn new(config: &Config, tls: Option<Tls>) -> Self {
        let http = config.http.clone();
        let response_timeout_ms = http.request_timeout_ms.max(ROUTE_TIMEOUT_MAX_MS) + http.body_timeout_ms;
        Self {
            http,
            response_timeout: Duration::from_millis(response_timeout_ms),
            header_prefix: config.brand.header_prefix.clone(),
            tls,
        }
    }
}
