//! `[plugins.tools]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Seconds between two probes of a tool: 10 to 86400.
    pub probe_interval_s: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { probe_interval_s: 600 }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        ConfigError::check([ConfigError::outside("probe_interval_s", self.probe_interval_s, 10..=86_400)])
    }
}
