//! `[plugins.tools]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Seconds between two probes of a tool: 10 to 86400.
    pub probe_interval_s: u32,
    /// Calls that wait for answers of providers of compute at the same time: of all providers, 1 to 10000.
    pub calls_max: usize,
    /// The same of one listing.
    pub calls_per_listing_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { probe_interval_s: 600, calls_max: 64, calls_per_listing_max: 8 }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::check([
            ConfigError::outside("probe_interval_s", self.probe_interval_s, 10..=86_400),
            ConfigError::outside("calls_max", self.calls_max, 1..=10_000),
            ConfigError::outside("calls_per_listing_max", self.calls_per_listing_max, 1..=10_000),
        ])
    }
}
