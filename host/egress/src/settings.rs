//! What [`crate::Egress`] is made of. `gateway-config` reads the section `[egress]`; what an operator cannot set has its value here.

use super::allow_list::AllowList;

/// Limits of outbound HTTP. Each is a maximum: a request may set a lower one, never a higher one.
#[derive(Debug, Clone)]
pub struct EgressSettings {
    /// Development only. Hosts that may be reached although they are not public: `name`, `name:port`, `address`,
    /// `address:port` (`[v6]:port`) or a CIDR such as `10.0.0.0/8`. An entry allows exactly what it names. Default:
    /// none.
    pub allow_hosts: Vec<String>,
    /// Deadline of a fetch that sets none; it covers everything up to the last byte. Default: 10 000.
    pub timeout_ms: u64,
    /// The longest deadline that a fetch may set. Default: 60 000.
    pub timeout_max_ms: u64,
    /// Time for TCP and TLS, within the deadline. Default: 5 000.
    pub connect_timeout_ms: u64,
    /// The largest response body. Nothing is decompressed: these are the bytes on the wire. Default: 1 MiB.
    pub response_bytes_max: u64,
    /// The largest response body that is read while it arrives, not decompressed either. Default: 64 MiB.
    pub stream_bytes_max: u64,
    /// How long such a response may say nothing while its reader waits. Default: 60 000.
    pub idle_timeout_ms: u64,
    /// The largest request body. Default: 1 MiB.
    pub request_bytes_max: u64,
    /// How many fetches of one plugin run at once, up to the end of their bodies; the others wait for a slot. Default: 64.
    pub per_plugin_concurrency: usize,
    /// How many calls a destination (a host name, or an address) gets at once, over all plugins, up to the end of their bodies.
    /// Further ones fail at once. What `allow_hosts` names is not counted. Default: 8.
    pub per_destination_concurrency: usize,
    /// How many calls to a destination begin within any second. Default: 20.
    pub per_destination_per_second: usize,
    /// The same for a destination that answered 2xx within the last minute. Default: 64.
    pub per_answering_destination_concurrency: usize,
    /// Default: 200.
    pub per_answering_destination_per_second: usize,
    /// A destination that never answered 2xx gets one background call in this time. Default: 60 000.
    pub unanswered_interval_ms: u64,
    /// How long the addresses of a name are used before it is resolved and checked again. Default: 30 000.
    pub resolve_interval_ms: u64,
    /// The `User-Agent` of a fetch that sets none. Default: `gateway/<version>`.
    pub user_agent: String,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            timeout_ms: 10_000,
            timeout_max_ms: 60_000,
            connect_timeout_ms: 5_000,
            response_bytes_max: 1024 * 1024,
            stream_bytes_max: 64 * 1024 * 1024,
            idle_timeout_ms: 60_000,
            request_bytes_max: 1024 * 1024,
            per_plugin_concurrency: 64,
            per_destination_concurrency: 8,
            per_destination_per_second: 20,
            per_answering_destination_concurrency: 64,
            per_answering_destination_per_second: 200,
            unanswered_interval_ms: 60_000,
            resolve_interval_ms: 30_000,
            user_agent: concat!("gateway/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

impl EgressSettings {
    /// Returns the parsed allow list, or every problem at once, each starting with the key's name.
    pub fn validate(&self) -> Result<AllowList, Vec<String>> {
        let mut problems = Vec::new();
        for (key, value) in [
            ("timeout_ms", self.timeout_ms),
            ("timeout_max_ms", self.timeout_max_ms),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("response_bytes_max", self.response_bytes_max),
            ("stream_bytes_max", self.stream_bytes_max),
            ("idle_timeout_ms", self.idle_timeout_ms),
            ("request_bytes_max", self.request_bytes_max),
            ("unanswered_interval_ms", self.unanswered_interval_ms),
            ("resolve_interval_ms", self.resolve_interval_ms),
        ] {
            if value == 0 {
                problems.push(format!("{key} must be greater than 0"));
            }
        }
        if self.timeout_ms > self.timeout_max_ms {
            problems.push(format!("timeout_ms must not exceed timeout_max_ms ({})", self.timeout_max_ms));
        }
        for (key, value) in [
            ("timeout_max_ms", self.timeout_max_ms),
            ("unanswered_interval_ms", self.unanswered_interval_ms),
            ("resolve_interval_ms", self.resolve_interval_ms),
        ] {
            if value > HOUR_MS {
                problems.push(format!("{key} must not exceed {HOUR_MS} (one hour)"));
            }
        }
        for (key, value) in [
            ("per_plugin_concurrency", self.per_plugin_concurrency),
            ("per_destination_concurrency", self.per_destination_concurrency),
            ("per_destination_per_second", self.per_destination_per_second),
            ("per_answering_destination_concurrency", self.per_answering_destination_concurrency),
            ("per_answering_destination_per_second", self.per_answering_destination_per_second),
        ] {
            if !(1..=CALLS_LIMIT).contains(&value) {
                problems.push(format!("{key} must be from 1 to {CALLS_LIMIT}"));
            }
        }
        if http::HeaderValue::from_str(&self.user_agent).is_err() || self.user_agent.is_empty() {
            problems.push("user_agent must be printable ASCII".to_owned());
        }
        let allow_problems = match AllowList::parse(&self.allow_hosts) {
            Ok(allow) if problems.is_empty() => return Ok(allow),
            Ok(_) => Vec::new(),
            Err(bad) => bad,
        };
        problems.extend(allow_problems);
        Err(problems)
    }
}

const HOUR_MS: u64 = 3_600_000;
const CALLS_LIMIT: usize = 10_000;
