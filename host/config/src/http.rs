//! `[http]`: the public listener and its bounds. Rule: every wait and every size has a limit that cannot be switched off.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

const CERTIFICATE: &str = "http.tls.certificate";
const KEY: &str = "http.tls.key";

/// The public listener.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    /// Address and port of the public listener; port 0 takes a free one.
    #[schemars(example = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Proxies of your own in front of the gateway. With 0 the `X-Forwarded-For` header is not believed; with N the client
    /// is the N-th address from the right. Set 1 behind one load balancer.
    #[schemars(range(max = 16))]
    pub trusted_proxy_hops: usize,
    /// Time for a client to send the whole request head; before it, with TLS, for the handshake.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub header_read_timeout_ms: u64,
    /// Time for a client to send the whole request body.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub body_timeout_ms: u64,
    /// Time that a kept-alive connection may stay without a request.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub idle_timeout_ms: u64,
    /// Time for a handler to answer; streams are exempt once they have begun.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub request_timeout_ms: u64,
    /// Open connections in total.
    #[schemars(range(min = 1))]
    pub connections_max: usize,
    /// Open connections from one peer address. Behind a proxy the peer is the proxy: raise it to `connections_max`.
    #[schemars(range(min = 1))]
    pub connections_per_ip_max: usize,
    /// Requests at work at a time, over all connections; more are answered 503 at once.
    #[schemars(range(min = 1))]
    pub requests_in_flight_max: usize,
    /// Largest request body; a route may ask for less, never for more.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub body_bytes_max: usize,
    /// Largest request head.
    #[schemars(range(min = 8192, max = 1_048_576))]
    pub header_bytes_max: usize,
    /// Whether HTTP/2 is spoken beside HTTP/1.1: over TLS when the client asks for it (ALPN), else without (h2c).
    pub http2: bool,
    /// Requests at a time on one HTTP/2 connection.
    #[schemars(range(min = 1, max = 10_000))]
    pub http2_concurrent_streams_max: u32,
    /// Time that a client waits for the answer that it called too often (429) or sent no HTTP; 0 answers at once.
    #[schemars(range(max = 5_000))]
    pub tarpit_ms: u64,
    /// Time that running requests get to finish when the gateway stops.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub drain_timeout_ms: u64,
    /// Memory for answers that are kept until their data changes; 0 keeps none. On PostgreSQL see `database.staleness_ms`.
    #[schemars(range(max = 17_179_869_184_u64))]
    pub cache_bytes_max: usize,
    /// Whether answers are compressed (gzip, brotli) for clients that accept it.
    pub compression: bool,
    /// Whether pages of other origins may read the answers (CORS, any origin, no credentials).
    pub cors: bool,
    pub tls: TlsConfig,
}

/// TLS of the public listener. Without it the listener speaks HTTP.
#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TlsConfig {
    /// PEM file with the certificate of the gateway, then those that lead to its authority.
    #[schemars(example = "/etc/gateway/tls/fullchain.pem")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the private key of the certificate; nobody but its owner may read it.
    #[schemars(example = "/etc/gateway/tls/privkey.pem")]
    pub key: Option<PathBuf>,
}

/// The files of `[http.tls]`.
#[derive(Debug, Clone, Copy)]
pub struct TlsFiles<'c> {
    pub certificate: &'c Path,
    pub key: &'c Path,
}

impl TlsConfig {
    /// `None`: TLS is off.
    pub fn files(&self) -> Option<TlsFiles<'_>> {
        Some(TlsFiles { certificate: self.certificate.as_deref()?, key: self.key.as_deref()? })
    }

    fn validate(&self, validator: &mut Validator<'_>) {
        for (key, path, other, other_path) in
            [(CERTIFICATE, &self.certificate, KEY, &self.key), (KEY, &self.key, CERTIFICATE, &self.certificate)]
        {
            // The text of a key must not come into a message about its file.
            let is_pem = |path: &PathBuf| path.to_string_lossy().contains("-----BEGIN");
            if path.as_ref().is_some_and(is_pem) {
                validator.refuse(
                    key,
                    "it is PEM text".to_owned(),
                    "write the text into a file, and name the file here",
                );
            } else if path.is_none() && other_path.is_some() {
                validator.refuse(
                    key,
                    format!("{other} is set, and this is not"),
                    "set both, or none for HTTP without TLS",
                );
            }
        }
    }
}

impl Default for HttpConfig {
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
            body_bytes_max: 262_144,
            header_bytes_max: 16_384,
            http2: true,
            http2_concurrent_streams_max: 128,
            tarpit_ms: 1000,
            drain_timeout_ms: 20_000,
            cache_bytes_max: 32 * 1024 * 1024,
            compression: true,
            cors: true,
            tls: TlsConfig::default(),
        }
    }
}

impl HttpConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        self.tls.validate(validator);
        if self.connections_per_ip_max > self.connections_max {
            validator.refuse(
                "http.connections_per_ip_max",
                format!("{} is more than http.connections_max ({})", self.connections_per_ip_max, self.connections_max),
                "one address cannot have more connections than all together: lower it, or raise http.connections_max",
            );
        }
    }
}
