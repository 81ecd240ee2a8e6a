//! What sending transactions needs from a chain: the account, a gas estimate, the broadcast, and which transaction used
//! a nonce.
//!
//! The rule: what decides about money is reported alike by every server that responds, and by two at least where two
//! are configured. A server that fails agrees with nobody.

use super::{
    Chain, ChainError,
    error::RpcError,
    receipt::{Receipt, receipt_request},
    rpc_client::{RpcRequest, missing_response, parse},
    rpc_server::{RpcServer, block_by_number, hex_number},
};
use alloy_primitives::{Address, B256, U64, U256};
use serde::Deserialize;
use serde_json::{Value, json};

/// Blocks of one request for transactions.
pub const SCAN_BLOCKS_MAX: u64 = 32;

/// An account at the newest block of one server.
#[derive(Clone, Debug)]
pub struct Account {
    /// The newest block.
    pub block: u64,
    pub base_fee: U256,
    /// The gas limit of a block.
    pub gas_limit: u64,
    /// The first nonce that no block has used.
    pub next_nonce: u64,
    /// The same, counting the transactions in the server's pool.
    pub pending_nonce: u64,
    pub balance: U256,
}

/// Why no value of the servers counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAgreement {
    #[error("the RPC servers do not agree")]
    Different,
    #[error("too few RPC servers answer for an agreement")]
    TooFew,
}

/// The transaction that used a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonceUse {
    pub hash: B256,
    pub block: u64,
    pub block_hash: B256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewestBlock {
    number: U64,
    base_fee_per_gas: Option<U256>,
    gas_limit: Option<U64>,
}

#[derive(Deserialize)]
struct FullBlock {
    hash: B256,
    number: U64,
    transactions: Vec<BlockTransaction>,
}

#[derive(Deserialize)]
struct BlockTransaction {
    hash: B256,
    from: Address,
    nonce: U64,
}

impl Chain {
    pub async fn account(&self, address: Address) -> Result<Account, ChainError> {
        let requests = vec![
            RpcRequest::new("eth_getTransactionCount", json!([address, "latest"])),
            RpcRequest::new("eth_getTransactionCount", json!([address, "pending"])),
            RpcRequest::new("eth_getBalance", json!([address, "latest"])),
            block_by_number("latest".into()),
        ];
        self.with_failover(|server| {
            let requests = requests.clone();
            async move {
                let mut responses = server.batch(requests).await?.into_iter();
                let mut next = || responses.next().unwrap_or_else(missing_response);
                let (next_nonce, pending_nonce): (U64, U64) = (parse(next())?, parse(next())?);
                let balance: U256 = parse(next())?;
                let newest: Option<NewestBlock> = parse(next())?;
                let newest = newest.ok_or_else(|| RpcError::OutOfSync("has no newest block".to_owned()))?;
                Ok(Account {
                    block: newest.number.to(),
                    base_fee: newest.base_fee_per_gas.unwrap_or_default(),
                    gas_limit: newest.gas_limit.map_or(u64::MAX, |limit| limit.to()),
                    next_nonce: next_nonce.to(),
                    pending_nonce: pending_nonce.to(),
                    balance,
                })
            }
        })
        .await
    }

    /// Gas of a transaction at the newest block. A transaction that would revert gives an error that says so.
    pub async fn estimate_gas(&self, transaction: &Value) -> Result<u64, ChainError> {
        let request = RpcRequest::new("eth_estimateGas", json!([transaction]));
        let gas: U64 = self.with_failover(|server| server.call(request.clone())).await?;
        Ok(gas.to())
    }

    /// Sends a signed transaction to every server that is not quarantined. Returns each server's response.
    pub async fn broadcast(&self, raw: &str) -> Vec<Result<(), RpcError>> {
        let request = RpcRequest::new("eth_sendRawTransaction", json!([raw]));
        self.call_each(|server| {
            let request = request.clone();
            async move { server.call::<B256>(request).await.map(drop) }
        })
        .await
    }

    /// The receipts of these transactions; `None` for one that is in no block.
    pub async fn receipts(&self, hashes: &[B256]) -> Result<Vec<Option<Receipt>>, ChainError> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        self.with_failover(|server| receipts(server, hashes)).await
    }

    /// The receipt that the servers agree on.
    pub async fn agreed_receipt(&self, hash: B256) -> Result<Receipt, NoAgreement> {
        let responses = self.call_each(|server| async move { receipts(server, &[hash]).await }).await;
        let receipts = responses.into_iter().filter_map(Result::ok).map(|mut receipts| receipts.pop().flatten());
        agreed(receipts, self.agreeing_min())
    }

    /// The transaction in the blocks `from` to `to` that used the nonce.
    pub async fn nonce_use(
        &self,
        sender: Address,
        nonce: u64,
        from: u64,
        to: u64,
    ) -> Result<Option<NonceUse>, ChainError> {
        self.with_failover(|server| nonce_use(server, sender, nonce, from, to)).await
    }

    /// The transaction in this block that used the nonce, as the servers agree on.
    pub async fn agreed_nonce_use(&self, sender: Address, nonce: u64, block: u64) -> Result<NonceUse, NoAgreement> {
        let responses = self.call_each(|server| nonce_use(server, sender, nonce, block, block)).await;
        agreed(responses.into_iter().filter_map(Result::ok), self.agreeing_min())
    }

    /// How many servers must report the same: two, or the only one that is configured.
    fn agreeing_min(&self) -> usize {
        self.servers.len().min(2)
    }
}

/// The value that all responses hold, if there are enough of them.
fn agreed<T: PartialEq>(responses: impl IntoIterator<Item = Option<T>>, min: usize) -> Result<T, NoAgreement> {
    let responses: Vec<Option<T>> = responses.into_iter().collect();
    if responses.len() < min.max(1) {
        return Err(NoAgreement::TooFew);
    }
    let are_same = responses.windows(2).all(|pair| matches!(pair, [one, other] if one == other));
    responses.into_iter().next().flatten().filter(|_| are_same).ok_or(NoAgreement::Different)
}

async fn receipts(server: &RpcServer, hashes: &[B256]) -> Result<Vec<Option<Receipt>>, RpcError> {
    let requests = hashes.iter().map(|hash| receipt_request(*hash)).collect();
    let responses = server.batch::<Option<Receipt>>(requests).await?;
    responses.into_iter().zip(hashes).map(|(receipt, hash)| receipt_of(receipt?, *hash)).collect()
}

/// A receipt of another transaction would let that one's outcome pass for ours.
fn receipt_of(receipt: Option<Receipt>, hash: B256) -> Result<Option<Receipt>, RpcError> {
    match receipt {
        Some(receipt) if receipt.transaction_hash != hash => {
            Err(RpcError::Inconsistent(format!("answers with the receipt of {} for {hash}", receipt.transaction_hash)))
        }
        receipt => Ok(receipt),
    }
}

async fn nonce_use(
    server: &RpcServer,
    sender: Address,
    nonce: u64,
    from: u64,
    to: u64,
) -> Result<Option<NonceUse>, RpcError> {
    let request = |number| RpcRequest::new("eth_getBlockByNumber", json!([hex_number(number), true]));
    for response in server.batch::<Option<FullBlock>>((from..=to).map(request).collect()).await? {
        let Some(block) = response? else { continue };
        let has_nonce = |tx: &&BlockTransaction| tx.from == sender && tx.nonce.to::<u64>() == nonce;
        if let Some(tx) = block.transactions.iter().find(has_nonce) {
            return Ok(Some(NonceUse { hash: tx.hash, block: block.number.to(), block_hash: block.hash }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{NoAgreement, agreed};

    #[test]
    fn a_missing_or_different_value_prevents_agreement() {
        assert_eq!(agreed([Some(1), Some(1)], 2), Ok(1));
        assert_eq!(agreed([Some(1), Some(1), Some(1)], 2), Ok(1));
        assert_eq!(agreed([Some(1), None], 2), Err(NoAgreement::Different));
        assert_eq!(agreed([Some(1), Some(2)], 2), Err(NoAgreement::Different));
        assert_eq!(agreed([Some(1), Some(1), Some(2)], 2), Err(NoAgreement::Different));
        assert_eq!(agreed::<u8>([None, None], 2), Err(NoAgreement::Different));
    }

    #[test]
    fn fewer_responses_than_must_agree_are_no_agreement() {
        assert_eq!(agreed([Some(1)], 2), Err(NoAgreement::TooFew));
        assert_eq!(agreed([Some(1)], 1), Ok(1));
        assert_eq!(agreed::<u8>([], 1), Err(NoAgreement::TooFew));
        assert_eq!(agreed::<u8>([], 0), Err(NoAgreement::TooFew));
    }
}
