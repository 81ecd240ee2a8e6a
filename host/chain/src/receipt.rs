//! Receipts of transactions as servers report them. The rule: a receipt names its block by hash, so that a
//! reorganisation shows.

use super::{raw_log::RawLog, rpc_client::RpcRequest};
use alloy_primitives::{Address, B256, U64, U256};
use plugin_api::{
    Hash256,
    chain::{LogInfo, ReceiptInfo},
};
use serde::Deserialize;
use serde_json::json;

/// The outcome of a transaction of ours, for the journal of transactions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub transaction_hash: B256,
    pub block_hash: B256,
    block_number: U64,
    status: U64,
    gas_used: U64,
    effective_gas_price: Option<U256>,
}

/// A receipt with parties and logs, for plugins.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiptWithLogs {
    transaction_hash: B256,
    block_number: U64,
    block_hash: B256,
    status: U64,
    from: Address,
    to: Option<Address>,
    logs: Vec<RawLog>,
}

pub(crate) fn receipt_request(tx: B256) -> RpcRequest {
    RpcRequest::new("eth_getTransactionReceipt", json!([tx]))
}

impl Receipt {
    pub fn block(&self) -> u64 {
        self.block_number.to()
    }

    pub fn succeeded(&self) -> bool {
        self.status == U64::ONE
    }

    pub fn gas_used(&self) -> u64 {
        self.gas_used.to()
    }

    /// What the sender paid for the gas.
    pub fn fee(&self) -> U256 {
        self.effective_gas_price.unwrap_or_default().saturating_mul(U256::from(self.gas_used()))
    }
}

impl ReceiptWithLogs {
    /// The logs, if this is the receipt of that transaction in that block.
    pub(crate) fn logs_of(self, tx: B256, block: B256) -> Option<Vec<RawLog>> {
        (self.transaction_hash == tx && self.block_hash == block).then_some(self.logs)
    }

    pub(crate) fn into_info(self) -> ReceiptInfo {
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
