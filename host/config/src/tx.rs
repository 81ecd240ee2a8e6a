//! `[tx]`: fees, resending and replacement of the transactions that the gateway sends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::validator::Validator;

/// Transactions that the gateway sends for plugins.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TxConfig {
    /// Tip per gas that a transaction begins with. Signers include none with less than 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub tip_gwei: u64,
    /// Most that is paid per gas, tip included. A transaction waits while the chain asks for more.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_fee_gwei: u64,
    /// Most that the transactions of one key may cost in fees within 24 hours, in thousandths of a coin; 0: no limit. An empty
    /// transfer, which frees the nonces behind it, is sent all the same.
    pub daily_fee_max_milli: u64,
    /// Transactions of one key that are on their way at a time; further ones wait.
    #[schemars(range(min = 1, max = 1000))]
    pub in_flight_max: usize,
    /// Time after which a transaction that is in no block is sent again.
    #[schemars(range(min = 10, max = 600_000))]
    pub resend_ms: u64,
    /// Time after which one that is still in no block is replaced by one with twice the tip, and one that every server refuses
    /// for good by an empty transfer.
    #[schemars(range(min = 10, max = 600_000))]
    pub replace_ms: u64,
}

impl Default for TxConfig {
    fn default() -> Self {
        Self {
            tip_gwei: 1,
            max_fee_gwei: 50,
            daily_fee_max_milli: 0,
            in_flight_max: 16,
            resend_ms: 8000,
            replace_ms: 20_000,
        }
    }
}

impl TxConfig {
    pub(super) fn validate(&self, validator: &mut Validator<'_>) {
        if self.tip_gwei > self.max_fee_gwei {
            let message = format!("{} is more than tx.max_fee_gwei ({})", self.tip_gwei, self.max_fee_gwei);
            validator.refuse(
                "tx.tip_gwei",
                message,
                "the tip is a part of the fee: lower it, or raise tx.max_fee_gwei",
            );
        }
    }
}
