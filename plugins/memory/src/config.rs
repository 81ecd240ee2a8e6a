//! `[plugins.memory]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::{limits::VALUE_BYTES_MAX, model::RECORD_BYTES};
use alloy_primitives::U256;
use plugin_api::{Address, ConfigError, JsonSchema, Wei};
use serde::Deserialize;

const MIB: i64 = 1024 * 1024;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Bytes that each address may store without paying.
    pub free_bytes: i64,
    /// What is paid for is sold in blocks of this many bytes, for this price each, for this many days: 1 to 3650.
    pub block_bytes: i64,
    pub block_price_wei: Wei,
    pub credit_days: u32,
    /// Who is paid. Without it nobody stores more than `free_bytes`.
    pub treasury: Option<Address>,
    /// Keys of one address.
    pub keys_max: i64,
    /// Bytes that all addresses together may store: values, and 1,024 for each record of the log.
    pub total_bytes: i64,
    /// New bytes that one client may store in a day of UTC, counted in the same way.
    pub client_bytes_per_day: i64,
    /// Name of the contract MemoryAnchor in its EIP-712 domain.
    pub domain_name: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            free_bytes: 5 * MIB,
            block_bytes: 65_536,
            block_price_wei: Wei(U256::from(10_000_000_000_000_000_u64)),
            credit_days: 30,
            treasury: None,
            keys_max: 10_000,
            total_bytes: 2048 * MIB,
            client_bytes_per_day: 32 * MIB,
            domain_name: "ServiceMemoryAnchor".to_owned(),
        }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let least = VALUE_BYTES_MAX + RECORD_BYTES;
        let too_small = |key, bytes: i64| {
            let problem = || format!("{key} is {bytes}: the largest value and its record have {least} bytes");
            (bytes < least).then(problem)
        };
        ConfigError::check([
            ConfigError::outside("free_bytes", self.free_bytes, 0..=MIB * MIB),
            ConfigError::outside("block_bytes", self.block_bytes, 1..=MIB * MIB),
            ConfigError::outside("credit_days", self.credit_days, 1..=3650),
            ConfigError::outside("keys_max", self.keys_max, 1..=100_000),
            too_small("total_bytes", self.total_bytes),
            too_small("client_bytes_per_day", self.client_bytes_per_day),
            (self.treasury == Some(Address::ZERO)).then(|| "treasury is the zero address: nobody owns it".to_owned()),
            self.domain_name.is_empty().then(|| "domain_name is empty".to_owned()),
        ])
    }

    pub(crate) fn credit_s(&self) -> i64 {
        i64::from(self.credit_days) * crate::model::DAY_S
    }
}
