//! Blocks with their transactions, as servers report them.

use super::{header::Header, rpc_client::RpcRequest, rpc_server::hex_number};
use alloy_primitives::{Address, B256, U256};
use plugin_api::{
    Hash256, Wei,
    chain::{BlockTransactions, TransactionInfo},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(crate) struct BlockWithTransactions {
    #[serde(flatten)]
    header: Header,
    transactions: Vec<RpcTransaction>,
}

#[derive(Deserialize)]
struct RpcTransaction {
    hash: B256,
    from: Address,
    to: Option<Address>,
    value: U256,
}

pub(crate) fn block_with_transactions(number: u64) -> RpcRequest {
    RpcRequest::new("eth_getBlockByNumber", json!([hex_number(number), true]))
}

impl BlockWithTransactions {
    pub(crate) fn into_info(self) -> BlockTransactions {
        let address = |address: Address| plugin_api::Address(address.into_array());
        let info = |sent: RpcTransaction| TransactionInfo {
            hash: Hash256(sent.hash.0),
            from: address(sent.from),
            to: sent.to.map(address),
            value: Wei(sent.value),
        };
        BlockTransactions { block: self.header.into(), transactions: self.transactions.into_iter().map(info).collect() }
    }
}
