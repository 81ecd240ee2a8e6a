//! `[plugins.webhooks]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;
use std::time::Duration;

const YEAR_S: u64 = 365 * 24 * 60 * 60;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Seconds from a failed attempt to the next one; after the last of them a delivery has failed. At most 30.
    pub retry_s: Vec<u64>,
    /// Webhooks of one owner: 1 to 1000.
    pub webhooks_per_owner: u32,
    /// Endpoints that are called at the same time, and those of one owner among them.
    pub endpoints_at_once: u32,
    pub endpoints_at_once_per_owner: u32,
    /// Hours for which the secret of before signs beside a new one: 0 to 720.
    pub rotation_hours: u32,
    /// A webhook is switched off after so many days without a success, with so many failed attempts, on so many days.
    pub disable_after_days: u32,
    pub disable_failures: u32,
    pub disable_failure_days: u32,
    /// Days for which finished deliveries are kept: 1 to 365.
    pub keep_days: u32,
    /// Calls of `…/test` of one owner in a minute.
    pub tests_per_minute: u32,
    /// Deliveries that one owner may have sent again in a day.
    pub replays_per_day: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            retry_s: vec![10, 60, 600],
            webhooks_per_owner: 10,
            endpoints_at_once: 64,
            endpoints_at_once_per_owner: 4,
            rotation_hours: 24,
            disable_after_days: 5,
            disable_failures: 10,
            disable_failure_days: 3,
            keep_days: 30,
            tests_per_minute: 6,
            replays_per_day: 1000,
        }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let waits = self.retry_s.iter().filter_map(|wait| ConfigError::outside("retry_s", *wait, 0..=YEAR_S)).next();
        ConfigError::check([
            waits,
            (self.retry_s.len() > 30).then(|| "retry_s has more than 30 members".to_owned()),
            ConfigError::outside("webhooks_per_owner", self.webhooks_per_owner, 1..=1000),
            ConfigError::outside("endpoints_at_once", self.endpoints_at_once, 1..=1000),
            ConfigError::outside("endpoints_at_once_per_owner", self.endpoints_at_once_per_owner, 1..=1000),
            ConfigError::outside("rotation_hours", self.rotation_hours, 0..=720),
            ConfigError::outside("disable_after_days", self.disable_after_days, 1..=365),
            ConfigError::outside("disable_failures", self.disable_failures, 1..=1_000_000),
            ConfigError::outside("disable_failure_days", self.disable_failure_days, 1..=365),
            ConfigError::outside("keep_days", self.keep_days, 1..=365),
            ConfigError::outside("tests_per_minute", self.tests_per_minute, 1..=1000),
            ConfigError::outside("replays_per_day", self.replays_per_day, 1..=1_000_000),
        ])
    }

    /// The pause after the failed attempt of this number, from 1; `None` after the last one.
    pub(crate) fn pause_after(&self, attempt: u32) -> Option<Duration> {
        let index = usize::try_from(attempt).ok()?.checked_sub(1)?;
        self.retry_s.get(index).copied().map(Duration::from_secs)
    }

    pub(crate) fn rotation_s(&self) -> i64 {
        i64::from(self.rotation_hours) * 60 * 60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_schedule_has_three_retries() {
        let config = Config::default();
        assert!(config.validate().is_ok());
        let pauses = [1, 2, 3, 4].map(|attempt| config.pause_after(attempt).map(|pause| pause.as_secs()));
        assert_eq!(pauses, [Some(10), Some(60), Some(600), None]);
        assert_eq!(config.pause_after(0), None);
    }
}
