//! Questions of the capability `tx`: transactions that the gateway signs and pursues for a plugin.

use crate::sdk::{Address, Hash256, Wei};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a plugin asks of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxQuestion {
    /// Records what shall be sent: its id, a number. Within a transaction it is recorded with that, or not at all.
    Send(Intent),
    /// What became of it: an [`IntentStatus`], or null when this plugin recorded none of that id.
    Status { id: i64 },
    /// The same by its key.
    Find { role: String, key: String },
    /// How a role's key stands: a [`Lane`].
    Lane { role: String, chain: String },
}

/// A transaction to be sent once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Which key pays and signs.
    pub role: String,
    /// Name of the chain in the gateway's configuration.
    pub chain: String,
    /// Names it among all that this plugin sends with this role: 1 to 200 characters. Recorded again with the same content
    /// it is the same intent; with another content it is an error.
    pub key: String,
    pub to: Address,
    pub value: Wei,
    pub call: TxCall,
    /// Gas limit: sent as it is, and refused when the estimate is above it. None: the estimate and a fifth more.
    #[serde(default)]
    pub gas: Option<u64>,
    /// Unix seconds after which it is not begun any more; one that was signed before is pursued to its end.
    #[serde(default)]
    pub valid_until_s: Option<i64>,
}

/// What a transaction carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxCall {
    /// `0x…`; `0x` for a plain transfer.
    Data(String),
    /// Signature, for example `settle(uint256,bytes)`, and arguments as in [`super::CallQuestion::args`].
    Function { function: String, args: Vec<Value> },
}

/// How far an intent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxState {
    /// Waits for its turn; `reason` says for what, if anything is in the way.
    Queued,
    /// Signed and stored, about to be sent.
    Signed,
    /// Handed to an RPC server; in no block yet, or in none any more.
    Sent,
    /// In a block that may still be taken back. `succeeded` says what came of it there.
    Included,
    /// It has succeeded, and that will not be undone. The end.
    Final,
    /// It will not happen, its call reverted in a block that will not be undone, or no server took it and its nonce is used
    /// otherwise: `reason` says which. The end.
    Failed,
}

/// What became of an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntentStatus {
    pub id: i64,
    pub role: String,
    pub chain: String,
    pub key: String,
    pub state: TxState,
    pub reason: Option<String>,
    /// Who pays; none before it is signed.
    pub sender: Option<Address>,
    pub nonce: Option<u64>,
    /// The transaction that is in a block, else the newest one that was signed.
    pub hash: Option<Hash256>,
    /// Every transaction that was signed for it, oldest first; at most one of them can ever be in the chain. The last may be
    /// one that does nothing but take the nonce of what no server takes: in a block, it is no success.
    pub hashes: Vec<Hash256>,
    pub block: Option<u64>,
    pub block_hash: Option<Hash256>,
    /// Blocks on top of its own, that one included; 0 outside a block.
    pub confirmations: u64,
    /// Whether what was intended succeeded; none outside a block.
    pub succeeded: Option<bool>,
    pub gas_used: Option<u64>,
    /// What the sender paid for the gas, in wei.
    pub fee: Option<Wei>,
}

/// One key on one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    pub address: Address,
    /// In wei; none while no RPC server has told it.
    pub balance: Option<Wei>,
    /// Intents that wait for their turn.
    pub queued: u64,
    /// Those that are signed and in no block.
    pub pending: u64,
    /// Age of the oldest of both.
    pub oldest_age_s: Option<i64>,
    /// What is in the way, if anything.
    pub reason: Option<String>,
}
