//! Chains: the event that a plugin derives rows from, and the questions of the capability `chain`.

use crate::sdk::{Address, Hash256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a contract. `args` holds its arguments by name: integers of up to 64 bits as numbers, larger ones as
/// decimal strings, bytes as `0x…`, arrays and tuples as arrays, an indexed text as its hash. Texts are a stranger's; the
/// gateway has put U+FFFD where they held NUL.
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
    pub block: u64,
    pub block_hash: Hash256,
    /// When the block was made, Unix seconds.
    pub time_s: i64,
    pub tx: Hash256,
    /// Place of the transaction in its block.
    pub tx_index: u64,
    /// Place of the event in its block. Another one after a reorganisation; the pair of `tx` and this is no lasting name.
    pub log_index: u64,
}

/// A block by its place and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockInfo {
    pub number: u64,
    pub hash: Hash256,
    pub parent: Hash256,
    /// Unix seconds.
    pub time_s: i64,
}

/// What a plugin asks of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainQuestion {
    pub chain: String,
    pub ask: ChainAsk,
    /// Whether two servers must give the same answer.
    #[serde(default)]
    pub agreed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainAsk {
    /// The newest block: a [`BlockInfo`].
    Head,
    /// The newest block that is not undone any more: a [`BlockInfo`].
    Finalized,
    /// The block of that number: a [`BlockInfo`], or null.
    Block { number: u64 },
    /// Calls that change nothing, all in the state after one block: a list of [`CallAnswer`] in their order.
    Call { calls: Vec<CallQuestion>, block: Option<u64> },
    /// Events of one signature, in their order: a list of [`ChainEvent`].
    Logs { address: Address, event: String, from: u64, to: u64 },
    /// The code at an address: `0x…`.
    Code { address: Address },
    /// A balance in wei: a decimal string.
    Balance { address: Address, block: Option<u64> },
    /// What a transaction came to: a [`ReceiptInfo`], or null while it is in no block.
    Receipt { tx: Hash256 },
}

/// A transaction that is in a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptInfo {
    pub tx: Hash256,
    pub block: u64,
    pub block_hash: Hash256,
    /// Whether it did what it was sent for; one that reverted did not.
    pub ok: bool,
    pub from: Address,
    /// None for one that makes a contract.
    pub to: Option<Address>,
    pub logs: Vec<LogInfo>,
}

/// An event as it is in a receipt.
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
pub struct CallQuestion {
    pub to: Address,
    /// Signature with its results, for example `balanceOf(address) returns (uint256)`.
    pub function: String,
    /// As in [`ChainEvent::args`]; integers may be numbers or decimal strings.
    pub args: Vec<Value>,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallAnswer {
    /// The result, or a list of them when the function has several.
    Value(Value),
    /// The contract refused, or there is none: a text for the log.
    Reverted(String),
}
