//! The header of a block, as a server sends it.

use alloy_primitives::{B256, U64, U256};
use plugin_api::Wei;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    number: U64,
    pub hash: B256,
    parent_hash: B256,
    gas_used: U256,
    /// None before EIP-1559.
    #[serde(default)]
    base_fee_per_gas: Option<U256>,
}

impl Header {
    pub fn number(&self) -> u64 {
        self.number.to()
    }

    /// What the block burned; none if no block can burn so much.
    pub fn burned(&self) -> Option<Wei> {
        self.gas_used.checked_mul(self.base_fee_per_gas.unwrap_or_default()).map(Wei)
    }

    /// Whether this block can be on the branch of an earlier one, by number and hash: if it is the next one, it is its child.
    pub fn may_follow(&self, (number, hash): (u64, B256)) -> bool {
        self.number() != number.saturating_add(1) || self.parent_hash == hash
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_block_burns_its_base_fee_for_each_gas() {
        let hash = B256::with_last_byte(1);
        let read = |fee: serde_json::Value| -> Header {
            let header = json!({ "number": "0x7", "hash": hash, "parentHash": hash, "gasUsed": "0x5208", "baseFeePerGas": fee, "size": "0x1" });
            serde_json::from_value(header).unwrap()
        };
        assert_eq!(read(json!("0x7")).burned(), Some(Wei::from(147_000)));
        assert_eq!(read(json!(null)).burned(), Some(Wei::ZERO), "before EIP-1559");
        assert_eq!(read(json!(U256::MAX)).burned(), None);
    }
}
