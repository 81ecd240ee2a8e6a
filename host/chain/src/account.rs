//! What the journal of transactions asks of a chain: accounts, fees, receipts, and who used a nonce.
//!
//! The rule: what is believed for money's sake was told by every server that answers.

use super::{
    Chain, ChainError,
    error::RpcFailure,
    rpc::{Call, missing, read},
    source::{Source, block_by_number, hex_number},
};
use alloy_primitives::{Address, B256, U64, U256};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};

/// Blocks of one question for transactions.
pub const SCAN_BLOCKS_MAX: u64 = 32;

/// An account at the newest block of one server.
#[derive(Clone, Debug)]
pub struct Account {
    /// The newest block.
    pub block: u64,
    pub base_fee: U256,
    /// Of a block.
    pub gas_limit: u64,
    /// Nonces below this one are used.
    pub count: u64,
    /// The same with what waits in the server's pool.
    pub pending: u64,
    pub balance: U256,
}

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

/// Who used a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub hash: B256,
    pub block: u64,
    pub block_hash: B256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Newest {
    number: U64,
    base_fee_per_gas: Option<U256>,
    gas_limit: Option<U64>,
}

#[derive(Deserialize)]
struct FullBlock {
    hash: B256,
    number: U64,
    transactions: Vec<Sent>,
}

#[derive(Deserialize)]
struct Sent {
    hash: B256,
    from: Address,
    nonce: U64,
}

#[derive(Deserialize)]
struct Name {
    hash: B256,
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

impl Chain {
    pub async fn account(&self, address: Address) -> Result<Account, ChainError> {
        let calls = vec![
            Call::new("eth_getTransactionCount", json!([address, "latest"])),
            Call::new("eth_getTransactionCount", json!([address, "pending"])),
            Call::new("eth_getBalance", json!([address, "latest"])),
            block_by_number("latest".into()),
        ];
        self.ask(|source| {
            let calls = calls.clone();
            async move {
                let mut answers = source.batch(calls).await?.into_iter();
                let mut next = || answers.next().unwrap_or_else(missing);
                let (count, pending): (U64, U64) = (read(next())?, read(next())?);
                let balance: U256 = read(next())?;
                let newest: Option<Newest> = read(next())?;
                let newest = newest.ok_or_else(|| RpcFailure::Behind("has no newest block".to_owned()))?;
                Ok(Account {
                    block: newest.number.to(),
                    base_fee: newest.base_fee_per_gas.unwrap_or_default(),
                    gas_limit: newest.gas_limit.map_or(u64::MAX, |limit| limit.to()),
                    count: count.to(),
                    pending: pending.to(),
                    balance,
                })
            }
        })
        .await
    }

    /// Gas of a transaction at the newest block. One that would revert is a failure that says so.
    pub async fn estimate_gas(&self, transaction: &Value) -> Result<u64, ChainError> {
        let call = Call::new("eth_estimateGas", json!([transaction]));
        let gas: U64 = self.ask(|source| source.call(call.clone())).await?;
        Ok(gas.to())
    }

    /// Hands a signed transaction to every server that is not aside; answers what each said, none when there is nobody.
    pub async fn hand_out(&self, raw: &str) -> Vec<Result<(), RpcFailure>> {
        let call = Call::new("eth_sendRawTransaction", json!([raw]));
        self.ask_each(|source| {
            let call = call.clone();
            async move { source.call::<B256>(call).await.map(drop) }
        })
        .await
    }

    /// The receipts of these transactions; none for one that is in no block.
    pub async fn receipts(&self, hashes: &[B256]) -> Result<Vec<Option<Receipt>>, ChainError> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(|source| receipts_of(source, hashes)).await
    }

    /// The receipt, when all servers that answer tell the same one.
    pub async fn agreed_receipt(&self, hash: B256) -> Option<Receipt> {
        let told = self.ask_each(|source| async move { receipts_of(source, &[hash]).await }).await;
        agreed(told.into_iter().filter_map(Result::ok).map(|mut told| told.pop().flatten()))
    }

    /// The names of these blocks; none where the server has no such block yet.
    pub async fn block_hashes(&self, numbers: &[u64]) -> Result<Vec<Option<B256>>, ChainError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        self.ask(|source| async move {
            let calls = numbers.iter().map(|number| block_by_number(hex_number(*number))).collect();
            let name = |answer: Result<Option<Name>, RpcFailure>| Ok(answer?.map(|block| block.hash));
            source.batch(calls).await?.into_iter().map(name).collect()
        })
        .await
    }

    /// The transaction that used the nonce, in these blocks.
    pub async fn usage(&self, sender: Address, nonce: u64, from: u64, to: u64) -> Result<Option<Usage>, ChainError> {
        self.ask(|source| usage_of(source, sender, nonce, from, to)).await
    }

    /// The same of one block, when all servers that answer tell the same.
    pub async fn agreed_usage(&self, sender: Address, nonce: u64, block: u64) -> Option<Usage> {
        let told = self.ask_each(|source| usage_of(source, sender, nonce, block, block)).await;
        agreed(told.into_iter().filter_map(Result::ok))
    }
}

/// What all say; nothing when nobody speaks, one knows nothing, or two disagree.
fn agreed<T: PartialEq>(told: impl IntoIterator<Item = Option<T>>) -> Option<T> {
    let mut told = told.into_iter();
    let first = told.next()??;
    told.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

async fn receipts_of(source: &Source, hashes: &[B256]) -> Result<Vec<Option<Receipt>>, RpcFailure> {
    let calls = hashes.iter().map(|hash| Call::new("eth_getTransactionReceipt", json!([hash]))).collect();
    source.batch(calls).await?.into_iter().collect()
}

async fn usage_of(
    source: &Source,
    sender: Address,
    nonce: u64,
    from: u64,
    to: u64,
) -> Result<Option<Usage>, RpcFailure> {
    let calls =
        (from..=to).map(|number| Call::new("eth_getBlockByNumber", json!([hex_number(number), true]))).collect();
    for answer in source.batch::<Option<FullBlock>>(calls).await? {
        let Some(block) = answer? else { continue };
        let is_it = |sent: &&Sent| sent.from == sender && sent.nonce.to::<u64>() == nonce;
        if let Some(sent) = block.transactions.iter().find(is_it) {
            return Ok(Some(Usage { hash: sent.hash, block: block.number.to(), block_hash: block.hash }));
        }
    }
    Ok(None)
}

impl Chain {
    /// Asks every server that is not aside.
    async fn ask_each<'c, T, F>(&'c self, question: impl Fn(&'c Source) -> F) -> Vec<Result<T, RpcFailure>>
    where
        F: Future<Output = Result<T, RpcFailure>>,
    {
        let asked = self.sources.iter().filter(|source| !source.is_aside()).map(|source| {
            let answer = question(source);
            async move {
                let answer = answer.await;
                match &answer {
                    Ok(_) => source.succeeded(),
                    Err(failure) => source.failed(failure),
                }
                answer
            }
        });
        join_all(asked).await
    }
}

#[cfg(test)]
mod tests {
    use super::agreed;

    #[test]
    fn one_who_knows_nothing_or_something_else_spoils_an_agreement() {
        assert_eq!(agreed([Some(1), Some(1)]), Some(1));
        assert_eq!(agreed([Some(1), None]), None);
        assert_eq!(agreed([Some(1), Some(2)]), None);
        assert_eq!(agreed::<u8>([]), None);
    }
}
