//! `[plugins.payloads]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::SIZE_MAX;
use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Bytes that all payloads together may have.
    pub total_bytes_max: i64,
    /// New bytes that one client may store in a day of UTC.
    pub client_bytes_per_day_max: i64,
    /// Days after which a payload that nobody mentions is deleted: 1 to 36500.
    pub keep_days: u32,
    /// Plugins that are gone for good: what they mentioned keeps no payload any more.
    pub gone: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        let (total_bytes_max, client_bytes_per_day_max) = (2 * 1024 * 1024 * 1024, 32 * 1024 * 1024);
        Self { total_bytes_max, client_bytes_per_day_max, keep_days: 30, gone: Vec::new() }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let too_small = |key, bytes: i64| {
            let problem =
                || format!("{key} is {bytes}: one payload alone may have {SIZE_MAX}, so it must be that at least");
            (bytes < SIZE_MAX).then(problem)
        };
        ConfigError::check([
            too_small("total_bytes_max", self.total_bytes_max),
            too_small("client_bytes_per_day_max", self.client_bytes_per_day_max),
            ConfigError::outside("keep_days", self.keep_days, 1..=36_500),
        ])
    }
}
