//! `[egress]`: bounds on what plugins fetch from outside. Rule: special address ranges are refused, except for the hosts in `allow_hosts`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::validator::Validator;

/// Outgoing HTTP of plugins.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EgressConfig {
    /// Hosts (`name` or `name:port`) that may be called although their address is local or private. For development.
    #[schemars(example = ["localhost:9000"])]
    pub allow_hosts: Vec<String>,
    /// Time for one whole call, body included; of a call whose answer is read while it arrives, for the begin of the answer.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// Time to reach the other side.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub connect_timeout_ms: u64,
    /// Largest answer that is read. Nothing is decompressed: these are the bytes that come, and what plugins get.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub response_bytes_max: usize,
    /// Largest answer that is read while it arrives; it is not decompressed either.
    #[schemars(range(min = 1024, max = 1_099_511_627_776_u64))]
    pub stream_bytes_max: u64,
    /// Calls of one plugin at a time, up to the last byte of their answers; further ones wait.
    #[schemars(range(min = 1, max = 10_000))]
    pub per_plugin_concurrency: usize,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            timeout_ms: 10_000,
            connect_timeout_ms: 3000,
            response_bytes_max: 1_048_576,
            stream_bytes_max: 67_108_864,
            per_plugin_concurrency: 16,
        }
    }
}

impl EgressConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if self.connect_timeout_ms > self.timeout_ms {
            validator.refuse(
                "egress.connect_timeout_ms",
                format!("{} is more than egress.timeout_ms ({})", self.connect_timeout_ms, self.timeout_ms),
                "connecting is a part of the call: lower it, or raise egress.timeout_ms",
            );
        }
        for host in self.allow_hosts.iter().filter(|host| !is_host(host)) {
            validator.refuse(
                "egress.allow_hosts",
                format!("{host:?} is no host"),
                "write a name or an IP address, with a port if you like: localhost, 127.0.0.1:9000, [::1]:9000",
            );
        }
    }
}

/// A host as in a URL, with or without a port, and nothing else.
fn is_host(entry: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !entry.is_empty()
        && entry.bytes().all(is_allowed)
        && Url::parse(&format!("http://{entry}/")).is_ok_and(|url| url.has_host())
}
