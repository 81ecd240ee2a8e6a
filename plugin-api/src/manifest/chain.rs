//! Chains: the events from which plugins derive rows, and the requests of the capability `chain`.

use super::TxCall;
use crate::{
    abi::LogMeta,
    values::{Address, Hash256, Wei},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, ops::Deref};

/// The chain that contracts, agents and jobs are on.
pub const MAIN: &str = "main";

/// One event of a contract. `args` holds its arguments by name: integers of up to 64 bits as numbers, larger ones as
/// decimal strings, bytes as `0x…`, arrays and tuples as arrays, an indexed text as its hash. Texts are untrusted; the
/// gateway replaces NUL in them by U+FFFD.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainEvent<Args, Text = String> {
    /// Name of the chain in the gateway's configuration.
    pub chain: Text,
    /// Key of the contract in the gateway's configuration, for example `registry`.
    pub contract: Text,
    pub address: Address,
    /// Name of the event, for example `Registered`.
    pub event: Text,
    pub args: Args,
    #[serde(flatten)]
    pub log: LogMeta,
}

/// An event's block and transaction are read as its own members: `event.block`, or `event.log.block` once `args` is moved out.
impl<Args, Text> Deref for ChainEvent<Args, Text> {
    type Target = LogMeta;

    fn deref(&self) -> &LogMeta {
        &self.log
    }
}

/// Number, hash and timestamp of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockInfo {
    pub number: u64,
    pub hash: Hash256,
    pub parent: Hash256,
    /// Unix seconds.
    pub time_s: i64,
}

/// The request of the capability `index`: how far the plugin's own index of a chain is, an [`IndexPosition`] or null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexCall {
    pub chain: String,
}

/// How far the rows that a plugin derives from a chain are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPosition {
    /// The last block whose events are in the rows.
    pub block: u64,
    pub hash: Hash256,
    /// The newest block of the chain.
    pub head: BlockInfo,
    /// How many blocks the operator wants on top of a block before what happened in it counts.
    pub confirmations: u64,
}

impl IndexPosition {
    /// Blocks that are mined and not in the rows yet.
    pub fn lag_blocks(&self) -> u64 {
        self.head.number.saturating_sub(self.block)
    }

    /// The last block whose events count: `confirmations` other ones are on top of it.
    pub fn confirmed_block(&self) -> u64 {
        self.block.saturating_sub(self.confirmations)
    }
}

/// A request of the capability `chain`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainCall {
    pub chain: String,
    /// Libraries that are built already send it as `ask`, and `quorum` as `agreed`.
    #[serde(rename = "ask")]
    pub method: ChainMethod,
    /// Whether two RPC servers must return the same result.
    #[serde(default, rename = "agreed")]
    pub quorum: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainMethod {
    /// The newest block: a [`BlockInfo`].
    Head,
    /// The newest block that a reorganisation can no longer remove: a [`BlockInfo`].
    Finalized,
    /// The block with this number: a [`BlockInfo`], or null.
    Block { number: u64 },
    /// Read-only calls, all in the state after one block: a list of [`EthCallResult`] in their order.
    Call { calls: Vec<EthCall>, block: Option<u64> },
    /// The same in the state after the block with this hash (EIP-1898), or null when the chain has no such block, or no longer.
    CallAt { calls: Vec<EthCall>, block: Hash256 },
    /// The block with this number and its transactions: a [`BlockTransactions`], or null.
    Transactions { block: u64 },
    /// Events of one signature, in chain order: a list of [`ChainEvent`].
    Logs {
        #[serde(flatten)]
        filter: EventFilter,
        from: u64,
        to: u64,
    },
    /// The code at an address: `0x…`.
    Code { address: Address },
    /// A balance in wei: a decimal string.
    Balance { address: Address, block: Option<u64> },
    /// The receipt of a transaction: a [`ReceiptInfo`], or null while it is in no block.
    Receipt { tx: Hash256 },
    /// The number of transactions that an address has sent, after the newest block: a number.
    TransactionCount { address: Address },
    /// What a transaction would use after the newest block: a [`GasEstimate`].
    Estimate {
        from: Address,
        to: Address,
        value: Wei,
        call: TxCall,
        /// Gas that it may use at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gas: Option<u64>,
    },
}

/// What a transaction would use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GasEstimate {
    Gas(u64),
    /// It would fail, and the server's reason as plain text of at most 200 characters: it reverts, needs more gas than it may use, or
    /// the sender cannot pay it.
    Fails(String),
}

/// Which events of a contract: one signature, and perhaps some values of its indexed arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventFilter {
    pub address: Address,
    pub event: String,
    /// The values that an indexed argument may have, by its name. Others are not filtered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexed: BTreeMap<String, Vec<Value>>,
}

/// A block with its transactions, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTransactions {
    #[serde(flatten)]
    pub block: BlockInfo,
    pub transactions: Vec<TransactionInfo>,
}

/// A transaction in a block. Whether it succeeded is in its receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionInfo {
    pub hash: Hash256,
    pub from: Address,
    /// None for the creation of a contract.
    pub to: Option<Address>,
    /// In wei.
    pub value: Wei,
}

/// The receipt of a transaction that is in a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptInfo {
    pub tx: Hash256,
    pub block: u64,
    pub block_hash: Hash256,
    /// False when it reverted.
    pub ok: bool,
    pub from: Address,
    /// None for the creation of a contract.
    pub to: Option<Address>,
    pub logs: Vec<LogInfo>,
}

/// An event in a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogInfo {
    pub address: Address,
    pub topics: Vec<Hash256>,
    /// `0x…`.
    pub data: String,
    pub log_index: u64,
}

/// One call of a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EthCall {
    pub to: Address,
    /// Signature with its results, for example `balanceOf(address) returns (uint256)`.
    pub function: String,
    /// As in [`ChainEvent::args`]; integers may be numbers or decimal strings.
    pub args: Vec<Value>,
    /// Gas that the call may use at most; by default as much as the server allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gas: Option<u64>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EthCallResult {
    /// The result, or a list of them when the function has several.
    Value(Value),
    /// The call reverted, or there is no contract: a text for the log.
    Reverted(String),
}

/// A request of the capability `raw_call`. Its body is the JSON array of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawChainCall {
    pub chain: String,
    pub method: String,
    pub timeout_ms: u64,
    pub result_bytes_max: u64,
}

/// The response of the capability `raw_call`. Its body is the result as JSON when there is no error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawChainReply {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RawCallError>,
    /// The newest block that no reorganisation undoes; none while no server responds to the gateway's polls.
    pub final_block: Option<u64>,
}

/// Why a raw call has no result. No text names a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawCallError {
    /// The servers' error response. `data` is hexadecimal, for example what a contract reverted with.
    Response { code: i64, message: String, data: Option<String> },
    /// The result has more bytes than the call takes.
    TooLarge,
    /// No server responded in time.
    Timeout,
    /// No server can be reached, or none responds as JSON-RPC says.
    Unavailable,
    /// Too many raw calls wait for the chain's servers.
    Busy,
}
