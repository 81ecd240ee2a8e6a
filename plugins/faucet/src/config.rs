//! `[plugins.faucet]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use alloy_primitives::U256;
use plugin_api::{ConfigError, JsonSchema, Wei};
use serde::Deserialize;

const FMX: u64 = 1_000_000_000_000_000_000;
/// More would take a browser longer than anybody waits.
pub const POW_BITS_MAX: u32 = 40;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What a drip sends, in wei.
    pub drip_wei: Wei,
    /// Drips in a day of UTC: 1 to 1000000. At no time is more than a quarter of them used ahead of the clock.
    pub per_day: i64,
    /// Drips of a client in a day of UTC: 1 to 1000000. An IPv6 client is a /64; its /48 has four times as many.
    pub ip_per_day: i64,
    /// What the relayer's account keeps, in wei.
    pub reserve_wei: Wei,
    /// Leading zero bits of the puzzle that a request solves: 0 to 40, 0 for none.
    pub pow_bits: u32,
    /// Whether the puzzle becomes harder while more than half of what may be used now is used.
    pub pow_follows_use: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            drip_wei: Wei(U256::from(FMX / 2)),
            per_day: 100,
            ip_per_day: 10,
            reserve_wei: Wei(U256::from(FMX)).saturating_mul(50),
            pow_bits: 0,
            pow_follows_use: true,
        }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let is_nothing = self.drip_wei == Wei::ZERO;
        ConfigError::check([
            is_nothing.then(|| "drip_wei is 0: a drip has to send something".to_owned()),
            ConfigError::outside("per_day", self.per_day, 1..=1_000_000),
            ConfigError::outside("ip_per_day", self.ip_per_day, 1..=1_000_000),
            ConfigError::outside("pow_bits", self.pow_bits, 0..=POW_BITS_MAX),
        ])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().is_ok());
        let config = Config { drip_wei: Wei::ZERO, per_day: 0, ip_per_day: 0, pow_bits: 41, ..Config::default() };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["drip_wei is 0", "per_day is 0", "ip_per_day is 0", "pow_bits is 41"] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }
}
