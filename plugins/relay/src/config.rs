//! `[plugins.relay]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing. All numbers are for a day of UTC, 1 to 1000000.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Name of the accounts in their EIP-712 domain.
    pub domain_name: String,
    /// Calls of an account.
    pub account_per_day: i64,
    /// Calls of a client. An IPv6 client is a /64; its /48 has four times as many.
    pub ip_per_day: i64,
    /// Calls in all.
    pub per_day: i64,
    /// Accounts that are created for an owner, beside the one without salt, which has a share of its own.
    pub creates_per_owner: i64,
    /// Accounts that are created for a client.
    pub creates_per_ip: i64,
    /// Accounts in all.
    pub creates_per_day: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            domain_name: "ServiceAgentAccount".to_owned(),
            account_per_day: 20,
            ip_per_day: 100,
            per_day: 2000,
            creates_per_owner: 1,
            creates_per_ip: 5,
            creates_per_day: 200,
        }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("account_per_day", self.account_per_day),
            ("ip_per_day", self.ip_per_day),
            ("per_day", self.per_day),
            ("creates_per_owner", self.creates_per_owner),
            ("creates_per_ip", self.creates_per_ip),
            ("creates_per_day", self.creates_per_day),
        ];
        let problems = numbers.map(|(key, number)| ConfigError::outside(key, number, 1..=1_000_000));
        let unnamed = self.domain_name.is_empty().then(|| "domain_name is empty: accounts have a name".to_owned());
        ConfigError::check(problems.into_iter().chain([unnamed]))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().is_ok());
        let config = Config { domain_name: String::new(), per_day: 0, creates_per_owner: -1, ..Config::default() };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["domain_name is empty", "per_day is 0", "creates_per_owner is -1"] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }
}
