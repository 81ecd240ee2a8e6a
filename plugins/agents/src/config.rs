//! `[plugins.agents]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema, Wei};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Seconds between two probes of an active agent's card: 10 to 86400.
    pub probe_interval_s: u32,
    /// The oracle has outputs validated of jobs that pay at least so much, in wei: 1 leaves out those that move no coins.
    pub oracle_min_amount_wei: Wei,
    /// Validations that the oracle requests for one agent in a day of UTC, and for all: 0 to 100000.
    pub oracle_per_agent_per_day: i64,
    pub oracle_per_day: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            probe_interval_s: 300,
            oracle_min_amount_wei: Wei::from(1_u64),
            oracle_per_agent_per_day: 5,
            oracle_per_day: 200,
        }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::check([
            ConfigError::outside("probe_interval_s", self.probe_interval_s, 10..=86_400),
            ConfigError::outside("oracle_per_agent_per_day", self.oracle_per_agent_per_day, 0..=100_000),
            ConfigError::outside("oracle_per_day", self.oracle_per_day, 0..=100_000),
        ])
    }
}
