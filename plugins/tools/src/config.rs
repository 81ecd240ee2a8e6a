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
    pub(crate) fn validate(self) -> Result<Self, ConfigError> {
        match self.probe_interval_s {
            10..=86_400 => Ok(self),
            wrong => Err(ConfigError(format!("probe_interval_s is {wrong}: it must be 10 to 86400"))),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_interval_out_of_its_range_is_refused() {
        assert!(Config::default().validate().is_ok());
        for wrong in [0, 9, 86_401] {
            let ConfigError(reason) = Config { probe_interval_s: wrong }.validate().unwrap_err();
            assert!(reason.contains(&wrong.to_string()), "{reason}");
        }
    }
}
