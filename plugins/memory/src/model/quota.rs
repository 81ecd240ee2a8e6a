//! How much an address may store: for nothing, and for what it paid.

use crate::Config;
use plugin_api::{Address, JsonSchema, Wei, payment::Price};
use serde::Serialize;

/// Members of several responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    pub used_bytes: i64,
    pub keys: i64,
    /// What is free.
    pub free_bytes: i64,
    /// What is paid for now.
    pub paid_bytes: i64,
    /// Both.
    pub quota_bytes: i64,
}

impl Quota {
    pub fn new(used_bytes: i64, keys: i64, paid_bytes: i64, config: &Config) -> Self {
        let free_bytes = config.free_bytes;
        Self { used_bytes, keys, free_bytes, paid_bytes, quota_bytes: free_bytes.saturating_add(paid_bytes) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pricing {
    pub per_block_wei: Wei,
    pub block_bytes: i64,
    pub credit_ttl_seconds: i64,
    /// Null where the operator takes no payments: then nobody stores more than what is free.
    pub pay_to: Option<Address>,
}

impl Pricing {
    pub fn new(config: &Config) -> Self {
        Self {
            per_block_wei: config.block_price_wei,
            block_bytes: config.block_bytes,
            credit_ttl_seconds: config.credit_s(),
            pay_to: config.treasury,
        }
    }
}

/// The room that a write needs beyond what its owner has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub blocks: i64,
}

impl Room {
    /// `used_bytes` is what the address stores after the write.
    pub fn needed(used_bytes: i64, paid_bytes: i64, config: &Config) -> Self {
        let overflow = used_bytes.saturating_sub(config.free_bytes.saturating_add(paid_bytes)).max(0);
        let full = overflow / config.block_bytes;
        Self { blocks: full + i64::from(overflow % config.block_bytes > 0) }
    }

    pub fn price(self, config: &Config) -> Price {
        let Config { block_bytes, credit_days, .. } = config;
        let blocks = u64::try_from(self.blocks).unwrap_or_default();
        Price {
            payee: config.treasury,
            amount: config.block_price_wei.saturating_mul(blocks),
            description: format!("Memory: {blocks} blocks of {block_bytes} bytes for {credit_days} days"),
        }
    }

    pub fn bytes(self, config: &Config) -> i64 {
        self.blocks.saturating_mul(config.block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_started_block_is_paid() {
        let config = Config::default();
        let (free, block) = (config.free_bytes, config.block_bytes);
        for (used, paid, blocks) in [
            (0, 0, 0),
            (free, 0, 0),
            (free + 1, 0, 1),
            (free + block, 0, 1),
            (free + block + 1, 0, 2),
            (free + block + 1, block, 1),
            (free + block, block, 0),
            (free, 10 * block, 0),
        ] {
            assert_eq!(Room::needed(used, paid, &config).blocks, blocks, "{used} {paid}");
        }
        let price = Room { blocks: 3 }.price(&config);
        assert_eq!((price.payee, price.amount.to_string().as_str()), (None, "30000000000000000"));
        assert_eq!(Room { blocks: 3 }.bytes(&config), 196_608);
    }

    #[test]
    fn a_quota_is_what_is_free_and_paid() {
        let quota = Quota::new(7, 1, 65_536, &Config::default());
        assert_eq!((quota.free_bytes, quota.quota_bytes), (5_242_880, 5_308_416));
    }
}
