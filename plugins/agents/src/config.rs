//! `[plugins.agents]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Seconds between two probes of an active agent's card: 10 to 86400.
    pub probe_interval_s: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { probe_interval_s: 300 }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if (10..=86_400).contains(&self.probe_interval_s) {
            return Ok(());
        }
        Err(ConfigError(format!("probe_interval_s is {}: it must be 10 to 86400", self.probe_interval_s)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_interval_out_of_its_range_is_refused() {
        for probe_interval_s in [0, 9, 86_401] {
            let ConfigError(reason) = Config { probe_interval_s }.validate().unwrap_err();
            assert!(reason.contains(&probe_interval_s.to_string()), "{reason}");
        }
    }
}
