//! What an operator may set at the edge. The names are those of the `[http]` section of the configuration.

use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    pub listen: SocketAddr,
    /// Proxies of the operator's own in front of the gateway; 0 believes no `X-Forwarded-For`.
    pub trusted_proxy_hops: usize,
    /// From the first byte of a request head (or from the connection's begin) to its end.
    pub header_read_timeout_ms: u64,
    /// From the first wait for a request body to its end.
    pub body_timeout_ms: u64,
    /// How long a connection may stay without a request, and how long a client may read nothing of its answer.
    pub idle_timeout_ms: u64,
    /// Until the head of the answer; bodies and streams are not counted.
    pub request_timeout_ms: u64,
    pub connections_max: usize,
    /// Per peer address; IPv6 counts per /64, because one host owns a whole one.
    pub connections_per_ip_max: usize,
    /// Requests at work at a time, over all connections; more are answered 503 at once.
    pub requests_in_flight_max: usize,
    pub header_bytes_max: usize,
    pub http2: bool,
    pub http2_concurrent_streams_max: u32,
    pub drain_timeout_ms: u64,
    pub compression: bool,
    pub cors: bool,
    /// Brand prefix of the gateway's own headers, for the list of headers that browsers may read.
    pub header_prefix: String,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            trusted_proxy_hops: 0,
            header_read_timeout_ms: 10_000,
            body_timeout_ms: 15_000,
            idle_timeout_ms: 60_000,
            request_timeout_ms: 30_000,
            connections_max: 4096,
            connections_per_ip_max: 256,
            requests_in_flight_max: 2048,
            header_bytes_max: 16_384,
            http2: true,
            http2_concurrent_streams_max: 128,
            drain_timeout_ms: 20_000,
            compression: true,
            cors: true,
            header_prefix: "X-Service-".to_owned(),
        }
    }
}

impl HttpSettings {
    pub(super) fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.body_timeout_ms)
    }

    pub(super) fn request_timeout(&self) -> Duration {
        Duration::from_millis(self.request_timeout_ms)
    }

    pub(super) fn drain_timeout(&self) -> Duration {
        Duration::from_millis(self.drain_timeout_ms)
    }
}
