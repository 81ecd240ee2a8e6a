//! Reads of the chain.
//!
//! The rule: where there are two servers, a read counts only if they agree. The number of calls is bounded, and nothing is asked twice.

use crate::{
    abi::{Datum, Kind, decode, decode_struct},
    document::{ALSO_EVIDENCE_MAX, CLAIMS_MAX},
    rpc::{Rpc, RpcError},
};
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A receipt and a block for each log of a claim, and what the escrow says of its job.
const CALLS_OF_CLAIM: usize = 2 * (1 + ALSO_EVIDENCE_MAX) + 1;
/// What is read once of a document: less than this.
const CALLS_OF_DOCUMENT: usize = 16;
/// For each server: so many that the largest document can be checked.
const CALLS_MAX: usize = CLAIMS_MAX * CALLS_OF_CLAIM + CALLS_OF_DOCUMENT;

/// Why something of the chain cannot be known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("no server of the chain is named")]
    NoServer,
    #[error("it takes more than {CALLS_MAX} calls")]
    TooManyCalls,
    #[error("a server gives {0}")]
    Unreachable(String),
    #[error("a server refuses: {0}")]
    Refused(String),
    #[error("two servers answer {0} differently")]
    Disagree(&'static str),
    #[error("the answer to {0} is not understood")]
    Unreadable(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub hash: B256,
    pub time_s: u64,
    transactions: Vec<B256>,
}

impl Block {
    pub(crate) fn has(&self, transaction: B256) -> bool {
        self.transactions.contains(&transaction)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
    pub index: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    pub block: u64,
    pub block_hash: B256,
    pub succeeded: bool,
    pub logs: Vec<Log>,
}

/// What the registry says of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agent {
    pub owner: Address,
    pub name: String,
    pub endpoint: String,
    pub metadata_uri: String,
    pub price_per_job: U256,
    pub bond: U256,
    pub registered_at: U256,
    pub status: &'static str,
    pub jobs_completed: U256,
    pub jobs_failed: U256,
    pub rating_count: U256,
    pub rating_sum: U256,
}

/// What the escrow says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub agent_id: Datum,
    pub client: Datum,
    pub amount: Datum,
    pub input_hash: Datum,
    pub output_hash: Datum,
    pub created_at: Datum,
    pub delivered_at: Datum,
    pub status: &'static str,
}

const AGENT_STATUS: [&str; 4] = ["None", "Active", "Paused", "Retired"];
const JOB_STATUS: [&str; 7] = ["None", "Open", "Delivered", "Completed", "Refunded", "Disputed", "Resolved"];

pub(crate) struct Reader<'n, R> {
    servers: &'n [R],
    calls_left: usize,
    blocks: HashMap<u64, Option<Block>>,
    receipts: HashMap<B256, Option<Receipt>>,
}

impl<'n, R: Rpc> Reader<'n, R> {
    pub(crate) fn new(servers: &'n [R]) -> Self {
        Self { servers, calls_left: CALLS_MAX, blocks: HashMap::new(), receipts: HashMap::new() }
    }

    /// The answer of every server.
    async fn all(&mut self, method: &'static str, params: Value) -> Result<Vec<Value>, ReadError> {
        if self.servers.is_empty() {
            return Err(ReadError::NoServer);
        }
        self.calls_left = self.calls_left.checked_sub(1).ok_or(ReadError::TooManyCalls)?;
        let mut answers = Vec::new();
        for server in self.servers {
            let answer = server.request(method, params.clone()).await;
            answers.push(answer.map_err(|error| match error {
                RpcError::Unreachable(reason) => ReadError::Unreachable(format!("no answer: {reason}")),
                RpcError::Refused(reason) => ReadError::Refused(reason),
            })?);
        }
        Ok(answers)
    }

    /// What all servers answer, by the parts that matter.
    async fn agreed<T>(
        &mut self,
        method: &'static str,
        params: Value,
        part: impl Fn(&Value) -> Value,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, ReadError> {
        let answers: Vec<Value> = self.all(method, params).await?.iter().map(part).collect();
        let first = answers.first().ok_or(ReadError::NoServer)?;
        if answers.iter().any(|answer| answer != first) {
            return Err(ReadError::Disagree(method));
        }
        read(first).ok_or(ReadError::Unreadable(method))
    }

    pub(crate) async fn chain_id(&mut self) -> Result<u64, ReadError> {
        self.agreed("eth_chainId", json!([]), Value::clone, quantity).await
    }

    /// The newest block that every server has.
    pub(crate) async fn head(&mut self) -> Result<u64, ReadError> {
        let answers = self.all("eth_blockNumber", json!([])).await?;
        let heads: Option<Vec<u64>> = answers.iter().map(quantity).collect();
        heads.and_then(|heads| heads.into_iter().min()).ok_or(ReadError::Unreadable("eth_blockNumber"))
    }

    pub(crate) async fn block(&mut self, number: u64) -> Result<Option<Block>, ReadError> {
        if let Some(block) = self.blocks.get(&number) {
            return Ok(block.clone());
        }
        let part = |block: &Value| json!([block["hash"], block["timestamp"], block["transactions"]]);
        let params = json!([format!("{number:#x}"), false]);
        let block = self.agreed("eth_getBlockByNumber", params, part, read_block).await?;
        self.blocks.insert(number, block.clone());
        Ok(block)
    }

    pub(crate) async fn receipt(&mut self, transaction: B256) -> Result<Option<Receipt>, ReadError> {
        if let Some(receipt) = self.receipts.get(&transaction) {
            return Ok(receipt.clone());
        }
        let part = |receipt: &Value| {
            let log = |log: &Value| json!([log["address"], log["topics"], log["data"], log["logIndex"]]);
            let logs: Option<Vec<Value>> = receipt["logs"].as_array().map(|logs| logs.iter().map(log).collect());
            json!([receipt["transactionHash"], receipt["blockNumber"], receipt["blockHash"], receipt["status"], logs])
        };
        let params = json!([transaction.to_string()]);
        let read = |part: &Value| read_receipt(part, transaction);
        let receipt = self.agreed("eth_getTransactionReceipt", params, part, read).await?;
        self.receipts.insert(transaction, receipt.clone());
        Ok(receipt)
    }

    async fn call(&mut self, to: Address, signature: &str, arguments: &[u8], block: u64) -> Result<Vec<u8>, ReadError> {
        let selector: Vec<u8> = keccak256(signature).iter().take(4).copied().collect();
        let data = Bytes::from([&selector, arguments].concat());
        let params = json!([{ "to": to.to_string(), "data": data.to_string() }, format!("{block:#x}")]);
        let read = |answer: &Value| answer.as_str()?.parse::<Bytes>().ok().map(Into::into);
        self.agreed("eth_call", params, Value::clone, read).await
    }

    pub(crate) async fn has_code(&mut self, address: Address, block: u64) -> Result<bool, ReadError> {
        let params = json!([address.to_string(), format!("{block:#x}")]);
        let read = |answer: &Value| answer.as_str().map(|code| code.len() > 2);
        self.agreed("eth_getCode", params, Value::clone, read).await
    }

    /// The agent, with the zero address as owner where there is none.
    pub(crate) async fn agent(&mut self, registry: Address, id: u64, block: u64) -> Result<Agent, ReadError> {
        let answer = self.call(registry, "getAgent(uint256)", &word(id), block).await?;
        read_agent(&answer).ok_or(ReadError::Unreadable("getAgent"))
    }

    pub(crate) async fn job(&mut self, escrow: Address, id: u64, block: u64) -> Result<Job, ReadError> {
        let answer = self.call(escrow, "getJob(uint256)", &word(id), block).await?;
        read_job(&answer).ok_or(ReadError::Unreadable("getJob"))
    }

    /// What the owner anchored under the key `cv`.
    pub(crate) async fn anchored(&mut self, identity: Address, id: u64, block: u64) -> Result<Vec<u8>, ReadError> {
        let mut key = [0; 32];
        for (place, byte) in key.iter_mut().zip(b"cv") {
            *place = *byte;
        }
        let arguments = [word(id), word(64), word(2), key].concat();
        let answer = self.call(identity, "getMetadata(uint256,string)", &arguments, block).await?;
        let read = decode(&[Kind::Bytes], &answer).and_then(|read| match read.into_iter().next() {
            Some(Datum::Bytes(bytes)) => Some(bytes),
            _ => None,
        });
        read.ok_or(ReadError::Unreadable("getMetadata"))
    }
}

fn word(number: u64) -> [u8; 32] {
    U256::from(number).to_be_bytes()
}

fn quantity(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn parsed<T: std::str::FromStr>(value: &Value) -> Option<T> {
    value.as_str()?.parse().ok()
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(read).collect()
}

/// `Some(None)` where the server has none.
fn read_block(part: &Value) -> Option<Option<Block>> {
    if part[0].is_null() {
        return Some(None);
    }
    let transactions = list(&part[2], parsed)?;
    Some(Some(Block { hash: parsed(&part[0])?, time_s: quantity(&part[1])?, transactions }))
}

fn read_receipt(part: &Value, transaction: B256) -> Option<Option<Receipt>> {
    if part[0].is_null() {
        return Some(None);
    }
    if parsed::<B256>(&part[0])? != transaction {
        return None;
    }
    let log = |log: &Value| {
        let data: Bytes = parsed(&log[2])?;
        let topics = list(&log[1], parsed)?;
        Some(Log { address: parsed(&log[0])?, topics, data: data.into(), index: quantity(&log[3])? })
    };
    Some(Some(Receipt {
        block: quantity(&part[1])?,
        block_hash: parsed(&part[2])?,
        succeeded: quantity(&part[3])? == 1,
        logs: list(&part[4], log)?,
    }))
}

fn read_agent(answer: &[u8]) -> Option<Agent> {
    use Datum::{Address, Text, Uint};
    let kinds = [&[Kind::Address, Kind::Text, Kind::Text, Kind::Text][..], &[Kind::Uint; 9]];
    let members: [Datum; 13] = decode_struct(&kinds.concat(), answer)?.try_into().ok()?;
    let [
        Address(owner),
        Text(name),
        Text(endpoint),
        Text(metadata_uri),
        Uint(price_per_job),
        Uint(bond),
        Uint(registered_at),
        Uint(_),
        Uint(status),
        Uint(jobs_completed),
        Uint(jobs_failed),
        Uint(rating_count),
        Uint(rating_sum),
    ] = members
    else {
        return None;
    };
    let status = status_of(&AGENT_STATUS, status)?;
    Some(Agent {
        owner,
        name,
        endpoint,
        metadata_uri,
        price_per_job,
        bond,
        registered_at,
        status,
        jobs_completed,
        jobs_failed,
        rating_count,
        rating_sum,
    })
}

fn read_job(answer: &[u8]) -> Option<Job> {
    let kinds = [
        Kind::Uint,
        Kind::Address,
        Kind::Uint,
        Kind::Word,
        Kind::Word,
        Kind::Text,
        Kind::Text,
        Kind::Uint,
        Kind::Uint,
        Kind::Uint,
    ];
    let members: [Datum; 10] = decode_struct(&kinds, answer)?.try_into().ok()?;
    let [agent_id, client, amount, input_hash, output_hash, _, _, created_at, delivered_at, Datum::Uint(status)] =
        members
    else {
        return None;
    };
    let status = status_of(&JOB_STATUS, status)?;
    Some(Job { agent_id, client, amount, input_hash, output_hash, created_at, delivered_at, status })
}

fn status_of<const N: usize>(names: &[&'static str; N], number: U256) -> Option<&'static str> {
    names.get(usize::try_from(number).ok()?).copied()
}
