//! `[plugins.hello]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// First word of a greeting.
    pub greeting: String,
    /// Days after which a guest's message is deleted: 1 to 36500.
    pub keep_days: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { greeting: "Hello".to_owned(), keep_days: 365 }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let blank = || "greeting is empty: give it a word, or leave the key out".to_owned();
        ConfigError::check([
            self.greeting.trim().is_empty().then(blank),
            ConfigError::outside("keep_days", self.keep_days, 1..=36_500),
        ])
    }
}
