//! The logs of one block by the receipts of its transactions.
//!
//! Servers cap what `eth_getLogs` returns. Whoever fills a block with events that a filter wants would stop everybody who reads
//! that block: then its receipts are read, one transaction at a time, which no cap concerns.

use super::{
    Header,
    error::RpcError,
    log_filter::{LogFilter, check_positions},
    raw_log::RawLog,
    receipt::{ReceiptWithLogs, receipt_request},
    rpc_client::RpcRequest,
    rpc_server::RpcServer,
};
use alloy_primitives::{B256, U64};
use serde::Deserialize;

#[derive(Deserialize)]
struct BlockWithHashes {
    #[serde(flatten)]
    header: Header,
    transactions: Vec<B256>,
}

/// The logs that a filter wants, in their order, and the block, which `request` asks for without its transactions' contents.
pub(crate) async fn logs_of_receipts(
    server: &RpcServer,
    request: RpcRequest,
    filters: &[LogFilter],
) -> Result<(Vec<RawLog>, Header), RpcError> {
    let lacks = |what: String| RpcError::OutOfSync(format!("does not have {what}"));
    let block: Option<BlockWithHashes> = server.call(request).await?;
    let BlockWithHashes { header, transactions } = block.ok_or_else(|| lacks("the block".to_owned()))?;
    let requests = transactions.iter().map(|tx| receipt_request(*tx)).collect();
    let receipts = server.batch::<Option<ReceiptWithLogs>>(requests).await?;
    let mut logs = Vec::new();
    for (tx, receipt) in transactions.iter().zip(receipts) {
        let receipt = receipt?.ok_or_else(|| lacks(format!("the receipt of {tx}")))?;
        let of_block = receipt.logs_of(*tx, header.hash).ok_or_else(|| {
            RpcError::Inconsistent(format!("told of another receipt than that of {tx} in block {}", header.number))
        })?;
        logs.extend(of_block.into_iter().filter(|log| filters.iter().any(|filter| filter.wants(log))));
    }
    for log in &mut logs {
        if log.block_hash != header.hash || log.block_number.to::<u64>() != header.number {
            return Err(RpcError::Inconsistent(format!("told of events of other blocks than {}", header.number)));
        }
        log.block_timestamp = Some(U64::from(header.time_s));
    }
    logs.sort_by_key(|log| log.log_index);
    check_positions(&logs)?;
    Ok((logs, header))
}
