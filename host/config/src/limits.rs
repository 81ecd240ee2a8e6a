//! `[limits]`: rate limits per IP address and per signing address. Rule: limits per IP are best effort, in memory; the limit
//! per signing address is in the database, in the transaction of the write.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::validator::Validator;

/// Rates and counts per client.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Requests per minute from one IP address, over all routes without a limit of their own.
    #[schemars(range(min = 1))]
    pub per_ip_per_minute: u32,
    /// Searches (requests with `q`) per minute from one IP address, counted besides the limit above.
    #[schemars(range(min = 1))]
    pub searches_per_ip_per_minute: u32,
    /// Signed writes per minute from one IP address, counted besides the first limit.
    #[schemars(range(min = 1))]
    pub commons_writes_per_ip_per_minute: u32,
    /// Time between two signed writes of one address; 0 switches this limit off.
    #[schemars(range(max = 3_600_000))]
    pub write_interval_ms: u64,
    /// IP addresses and networks that the limits per IP do not count.
    #[serde(deserialize_with = "read_networks", serialize_with = "write_networks")]
    #[schemars(with = "Vec<String>", example = ["10.0.0.0/8", "::1"])]
    pub allow: Vec<IpNet>,
    /// Open event streams of one route and one IP address.
    #[schemars(range(min = 1))]
    pub streams_per_ip_max: usize,
    /// Open event streams of one route in total.
    #[schemars(range(min = 1))]
    pub streams_max: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            per_ip_per_minute: 300,
            searches_per_ip_per_minute: 60,
            commons_writes_per_ip_per_minute: 30,
            write_interval_ms: 1000,
            allow: Vec::new(),
            streams_per_ip_max: 8,
            streams_max: 500,
        }
    }
}

impl LimitsConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if self.streams_per_ip_max > self.streams_max {
            validator.refuse(
                "limits.streams_per_ip_max",
                format!("{} is more than limits.streams_max ({})", self.streams_per_ip_max, self.streams_max),
                "one address cannot have more streams than all together: lower it, or raise limits.streams_max",
            );
        }
    }
}

/// Accepts `10.0.0.0/8` and bare addresses; the error names every entry that is neither.
fn read_networks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let entries = Vec::<String>::deserialize(deserializer)?;
    let mut wrong = Vec::new();
    let mut networks = Vec::with_capacity(entries.len());
    for entry in &entries {
        match parse_network(entry) {
            Some(network) => networks.push(network),
            None => wrong.push(format!("{entry:?}")),
        }
    }
    if wrong.is_empty() {
        Ok(networks)
    } else {
        Err(D::Error::custom(format!("no IP address and no network: {}", wrong.join(", "))))
    }
}

fn parse_network(entry: &str) -> Option<IpNet> {
    let address = || entry.parse::<IpAddr>().ok().map(IpNet::from);
    entry.parse().ok().or_else(address)
}

fn write_networks<S: Serializer>(networks: &[IpNet], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(networks.iter().map(ToString::to_string))
}
