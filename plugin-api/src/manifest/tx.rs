//! Requests of the capability `tx`: transactions that the gateway signs, sends and confirms for a plugin.

use crate::values::{Address, Hash256, Wei};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to the transaction journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalCall {
    /// Records an intent and returns its id. Within a database transaction it is recorded with its commit, or not at all.
    Send(Intent),
    /// The status of an intent: an [`IntentStatus`], or null when this plugin recorded none with this id.
    Status { id: i64 },
    /// The same by its key.
    Find { role: String, key: String },
    /// The nonce queue of a role's key: a [`NonceQueueStatus`]. Libraries that are built already send it as `lane`.
    #[serde(rename = "lane")]
    NonceQueue { role: String, chain: String },
    /// The extended public key of a role's wallets: a text.
    Xpub { role: String },
    /// Signs transactions of a role's wallets: a list of [`SignedTransaction`] in their order. Refused while the gateway's own
    /// transactions wait on this chain.
    SignWallets { role: String, chain: String, transactions: Vec<WalletTransaction> },
    /// How many of the gateway's own transactions wait on this chain for a block: a number. An error while that cannot be read.
    Waiting { chain: String },
}

/// A transfer from one of a role's wallets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalletTransaction {
    /// The wallet's index, below 2^31.
    pub wallet: u32,
    pub nonce: u64,
    pub to: Address,
    /// In wei.
    pub value: Wei,
    /// `0x…`.
    pub data: String,
    pub gas: u64,
    /// In wei, exactly: tip and maximum are the same, so that the fee is known before it is in a block.
    pub gas_price: Wei,
}

/// A transaction that a wallet signed, and nobody has sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedTransaction {
    pub hash: Hash256,
    pub sender: Address,
    /// As `eth_sendRawTransaction` takes it: `0x…`.
    pub raw: String,
}

/// A transaction that the gateway sends once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The role whose key pays and signs.
    pub role: String,
    /// Name of the chain in the gateway's configuration.
    pub chain: String,
    /// Identifies it among all intents of this plugin and role: 1 to 200 characters. Recording it again with the same content
    /// has no effect; with another content it is an error.
    pub key: String,
    pub to: Address,
    pub value: Wei,
    pub call: TxCall,
    /// Gas limit: used as given, and refused when the estimate is above it. None: the estimate and a fifth more.
    #[serde(default)]
    pub gas: Option<u64>,
    /// Unix seconds after which the gateway no longer signs it; one that was signed before is still confirmed.
    #[serde(default)]
    pub valid_until_s: Option<i64>,
}

/// The call of a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxCall {
    /// `0x…`; `0x` for a plain transfer.
    Data(String),
    /// Signature, for example `settle(uint256,bytes)`, and arguments as in [`super::EthCall::args`].
    Function { function: String, args: Vec<Value> },
}

/// The state of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxState {
    /// Waits for earlier intents; `reason` says what blocks it, if anything does.
    Queued,
    /// Signed and stored, about to be sent.
    Signed,
    /// Sent to an RPC server; in no block yet, or no longer in one.
    Sent,
    /// In a block that a reorganisation may still remove. `succeeded` is its result there.
    Included,
    /// It succeeded in a final block. A terminal state.
    Final,
    /// A terminal state, with the reason in `reason`: the gateway gave it up, its call reverted in a final block, or no server
    /// accepted it and its nonce was used by another transaction.
    Failed,
}

impl TxState {
    /// As in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Included => "included",
            Self::Final => "final",
            Self::Failed => "failed",
        }
    }

    /// Whether the state is terminal: a finished intent never changes again.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Final | Self::Failed)
    }
}

/// Why an intent has failed, as far as a plugin decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentFailure {
    /// The call reverts: when its gas is estimated, or in a final block.
    Reverted,
    /// The call takes more gas than the intent's limit.
    OutOfGas,
    /// Anything else, and what a newer gateway distinguishes.
    #[serde(other)]
    Other,
}

/// The status of an intent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntentStatus {
    pub id: i64,
    pub role: String,
    pub chain: String,
    pub key: String,
    pub state: TxState,
    pub reason: Option<String>,
    /// Why it has failed; none in another state, and of a gateway that is older than this field.
    #[serde(default)]
    pub failure: Option<IntentFailure>,
    /// The address that pays; none before it is signed.
    pub sender: Option<Address>,
    pub nonce: Option<u64>,
    /// The transaction that is in a block, else the newest one that was signed.
    pub hash: Option<Hash256>,
    /// Every transaction that was signed for it, oldest first; at most one of them can ever be in the chain. The last one may
    /// be a cancellation that only uses up the nonce: in a block, it is no success.
    pub hashes: Vec<Hash256>,
    pub block: Option<u64>,
    pub block_hash: Option<Hash256>,
    /// Number of blocks from its own to the head, both included; 0 outside a block.
    pub confirmations: u64,
    /// Whether the intended call succeeded; none outside a block.
    pub succeeded: Option<bool>,
    /// Whether the transaction in the block is the cancellation.
    #[serde(default)]
    pub is_cancelled: bool,
    pub gas_used: Option<u64>,
    /// The gas fee that the sender paid, in wei.
    pub fee: Option<Wei>,
}

/// The state of the nonce queue of one key on one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonceQueueStatus {
    pub address: Address,
    /// In wei; none until an RPC server has returned it.
    pub balance: Option<Wei>,
    /// Number of intents that are not signed yet.
    pub queued: u64,
    /// Number of intents that are signed and in no block.
    pub pending: u64,
    /// Age of the oldest queued or pending intent.
    pub oldest_age_s: Option<i64>,
    /// What blocks the queue, if anything does.
    pub reason: Option<String>,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_is_not_known_is_another_one() {
        let failure = |text: &str| serde_json::from_str::<IntentFailure>(text).unwrap();
        assert_eq!(failure(r#""out_of_gas""#), IntentFailure::OutOfGas);
        assert_eq!(failure(r#""of a newer gateway""#), IntentFailure::Other);
    }

    #[test]
    fn a_state_has_one_name() {
        use TxState::{Failed, Final, Included, Queued, Sent, Signed};
        for state in [Queued, Signed, Sent, Included, Final, Failed] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
