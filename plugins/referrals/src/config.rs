//! `[plugins.referrals]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use alloy_primitives::U256;
use plugin_api::{Address, ConfigError, JsonSchema, Wei};
use serde::Deserialize;
use std::collections::BTreeSet;

const DAY_S: i64 = 86_400;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What each of the two owners gets, in wei. A claim keeps the reward of its time.
    pub reward_wei: Wei,
    /// The smallest job that counts, in wei.
    pub min_job_wei: Wei,
    /// What all payouts together may cost, in wei, fees not counted. Without it nobody is paid.
    pub budget_wei: Option<Wei>,
    /// Payouts for one referrer's owner in a day of UTC: 1 to 100000.
    pub paid_per_referrer_per_day: i64,
    /// Payouts in a day of UTC: 1 to 100000.
    pub paid_per_day: i64,
    /// Payouts in a day of UTC that need no release of an operator: 0 to 100000.
    pub unreleased_per_day: i64,
    /// Days after its registration in which an agent can name its referrer: 1 to 36500.
    pub claim_days: u32,
    /// Addresses that release payouts and repeat transfers that failed. While there are none, nobody does.
    pub operators: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        let fmx = |amount: u64| Wei(U256::from(amount) * U256::from(1_000_000_000_000_000_000_u64));
        Self {
            reward_wei: fmx(10),
            min_job_wei: fmx(5),
            budget_wei: None,
            paid_per_referrer_per_day: 5,
            paid_per_day: 50,
            unreleased_per_day: 10,
            claim_days: 30,
            operators: Vec::new(),
        }
    }
}

impl Config {
    /// Returns the operators; reports all problems at once.
    pub(crate) fn validate(&self) -> Result<BTreeSet<Address>, ConfigError> {
        let (operators, mut problems) = ConfigError::parse("operators", &self.operators);
        problems.extend([
            (self.reward_wei == Wei::ZERO).then(|| "reward_wei is 0: leave budget_wei out to pay nobody".to_owned()),
            ConfigError::outside("paid_per_referrer_per_day", self.paid_per_referrer_per_day, 1..=100_000),
            ConfigError::outside("paid_per_day", self.paid_per_day, 1..=100_000),
            ConfigError::outside("unreleased_per_day", self.unreleased_per_day, 0..=100_000),
            ConfigError::outside("claim_days", self.claim_days, 1..=36_500),
        ]);
        ConfigError::check(problems).map(|()| operators)
    }

    pub(crate) fn claim_s(&self) -> i64 {
        i64::from(self.claim_days) * DAY_S
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().unwrap().is_empty());
        let config = Config {
            reward_wei: Wei::ZERO,
            paid_per_referrer_per_day: 0,
            paid_per_day: 0,
            unreleased_per_day: -1,
            claim_days: 0,
            operators: vec!["me".into()],
            ..Config::default()
        };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["reward_wei is 0", "_referrer_per_day is 0", "paid_per_day is 0", "unreleased_per_day is -1"] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert!(reason.contains("claim_days is 0") && reason.contains("operators: `me`"), "{reason}");
    }

    #[test]
    fn the_amounts_are_those_of_the_network() {
        let config = Config::default();
        assert_eq!(config.reward_wei.to_string(), "10000000000000000000");
        assert_eq!((config.min_job_wei.to_string(), config.claim_s()), ("5000000000000000000".to_owned(), 2_592_000));
    }
}
