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
        let mut problems = Vec::new();
        if self.greeting.trim().is_empty() {
            problems.push("greeting is empty: give it a word, or leave the key out".to_owned());
        }
        if !(1..=36_500).contains(&self.keep_days) {
            problems.push(format!("keep_days is {}: it must be 1 to 36500", self.keep_days));
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError(problems.join("; "))) }
    }
}
