//! `[egress]`: bounds on what plugins fetch from outside. Rule: special address ranges are refused, except for the hosts in `allow_hosts`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::validator::Validator;

/// Outgoing HTTP of plugins.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EgressConfig {
    /// Hosts (`name` or `name:port`) that may be called although their address is local or private. For development. The calls of a
    /// destination are not counted for what is named here: a name, or an address.
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
    /// Calls of all plugins to one destination at a time, up to the last byte of their answers; further ones fail at once. A call
    /// counts for the name of its host and for the address that it resolves to; path, query and port make no other destination.
    #[schemars(range(min = 1, max = 10_000))]
    pub per_destination_concurrency: usize,
    /// Calls to one destination that begin within any second.
    #[schemars(range(min = 1, max = 10_000))]
    pub per_destination_per_second: usize,
    /// Calls at a time to a destination that answered 2xx within the last minute.
    #[schemars(range(min = 1, max = 10_000))]
    pub per_answering_destination_concurrency: usize,
    /// Calls to such a destination that begin within any second.
    #[schemars(range(min = 1, max = 10_000))]
    pub per_answering_destination_per_second: usize,
    /// A destination that never answered 2xx, since the gateway started, gets one probe or webhook in this time.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub unanswered_interval_ms: u64,
    /// Time after which a name is resolved and checked again. Connections to addresses that it no longer has are closed then.
    #[schemars(range(min = 1, max = 3_600_000))]
    pub resolve_interval_ms: u64,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            timeout_ms: 10_000,
            connect_timeout_ms: 3000,
            response_bytes_max: 1_048_576,
            stream_bytes_max: 67_108_864,
            per_plugin_concurrency: 64,
            per_destination_concurrency: 8,
            per_destination_per_second: 20,
            per_answering_destination_concurrency: 64,
            per_answering_destination_per_second: 200,
            unanswered_interval_ms: 60_000,
            resolve_interval_ms: 30_000,
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
        for (key, answering_key, ordinary, answering) in [
            (
                "per_destination_concurrency",
                "per_answering_destination_concurrency",
                self.per_destination_concurrency,
                self.per_answering_destination_concurrency,
            ),
            (
                "per_destination_per_second",
                "per_answering_destination_per_second",
                self.per_destination_per_second,
                self.per_answering_destination_per_second,
            ),
        ] {
            if answering < ordinary {
                validator.refuse(
                    &format!("egress.{answering_key}"),
                    format!("{answering} is less than egress.{key} ({ordinary})"),
                    "a destination that answers gets at least what every other one gets",
                );
            }
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
