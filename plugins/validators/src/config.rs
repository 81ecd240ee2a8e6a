//! `[plugins.validators]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{Address, ConfigError, JsonSchema};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Addresses that may export the waitlist, contacts too. While there are none, nobody may.
    pub operators: Vec<String>,
    /// Whether a sign-up must be signed by its address.
    pub signatures_required: bool,
    /// New sign-ups per client IP and hour: 1 to 1000.
    pub signups_per_hour: u32,
    /// Entries that the waitlist takes: 1 to 1000000.
    pub entries_max: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { operators: Vec::new(), signatures_required: true, signups_per_hour: 5, entries_max: 100_000 }
    }
}

impl Config {
    /// Returns the operators; reports all problems at once.
    pub(crate) fn validate(&self) -> Result<BTreeSet<Address>, ConfigError> {
        let (operators, mut problems) = ConfigError::parse("operators", &self.operators);
        problems.extend([
            ConfigError::outside("signups_per_hour", self.signups_per_hour, 1..=1000),
            ConfigError::outside("entries_max", self.entries_max, 1..=1_000_000),
        ]);
        ConfigError::check(problems).map(|()| operators)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().unwrap().is_empty());
        let config = Config { operators: vec!["me".into()], signups_per_hour: 0, entries_max: 0, ..Config::default() };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["operators: `me`", "signups_per_hour is 0", "entries_max is 0"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
}
