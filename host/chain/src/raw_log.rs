//! A log as `eth_getLogs` returns it, before its arguments are decoded.

use alloy_primitives::{Address, B256, Bytes, U64};
use plugin_api::{Hash256, abi::LogMeta};
use serde::Deserialize;

/// One event of a contract.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    pub block_number: U64,
    pub block_hash: B256,
    pub transaction_hash: B256,
    pub transaction_index: U64,
    pub log_index: U64,
    /// Only newer servers send it. Requests for logs take it from the header otherwise.
    #[serde(default)]
    pub block_timestamp: Option<U64>,
    #[serde(default)]
    pub(super) removed: bool,
}

impl RawLog {
    /// Where it is in the chain.
    pub fn meta(&self) -> LogMeta {
        LogMeta {
            block: self.block_number.to(),
            block_hash: Hash256(self.block_hash.0),
            time_s: self.time_s(),
            tx: Hash256(self.transaction_hash.0),
            tx_index: self.transaction_index.to(),
            log_index: self.log_index.to(),
        }
    }

    fn time_s(&self) -> i64 {
        self.block_timestamp.map_or(0, |time| i64::try_from(time.to::<u64>()).unwrap_or(i64::MAX))
    }
}
