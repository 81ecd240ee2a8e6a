//! What a transaction came to, as servers tell it.

use super::{log::RawLog, rpc::Call};
use alloy_primitives::{Address, B256, U64};
use plugin_api::{Hash256, LogInfo, ReceiptInfo};
use serde::Deserialize;
use serde_json::json;

/// A receipt.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawReceipt {
    transaction_hash: B256,
    block_number: U64,
    block_hash: B256,
    status: U64,
    from: Address,
    to: Option<Address>,
    logs: Vec<RawLog>,
}

pub fn receipt_of(tx: Hash256) -> Call {
    Call::new("eth_getTransactionReceipt", json!([tx]))
}

impl RawReceipt {
    pub fn into_info(self) -> ReceiptInfo {
        let address = |address: Address| plugin_api::Address(address.into_array());
        let log = |log: RawLog| LogInfo {
            address: address(log.address),
            topics: log.topics.iter().map(|topic| Hash256(topic.0)).collect(),
            data: log.data.to_string(),
            log_index: log.log_index.to(),
        };
        ReceiptInfo {
            tx: Hash256(self.transaction_hash.0),
            block: self.block_number.to(),
            block_hash: Hash256(self.block_hash.0),
            ok: self.status == U64::from(1),
            from: address(self.from),
            to: self.to.map(address),
            logs: self.logs.into_iter().map(log).collect(),
        }
    }
}
