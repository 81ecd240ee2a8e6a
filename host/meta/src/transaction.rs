//! `GET /api/tx/{hash}`: what became of a transaction that the gateway sent. The rule: it says what the chain will show anyway, and
//! nothing of the plugin that wanted it.

use plugin_api::{
    Hash256,
    manifest::{IntentStatus, TxState},
};
use schemars::JsonSchema;
use serde::Serialize;

/// A transaction of the gateway. It is signed again with a higher fee while no block takes it, so it may have several hashes, of which
/// one at most is ever in the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransactionStatus {
    /// The one that was asked for.
    pub hash: Hash256,
    /// The one that is in a block, else the newest.
    pub tx_hash: Hash256,
    pub state: TransactionState,
    /// Name of the chain.
    pub chain: String,
    pub block: Option<u64>,
    /// Blocks from its own to the newest, both included.
    pub confirmations: u64,
    /// Whether it did what it was for; null outside of a block.
    pub succeeded: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransactionState {
    /// It waits to be signed again, because a transaction from elsewhere took its nonce.
    Queued,
    Signed,
    Sent,
    /// In a block that a reorganisation may still remove.
    Included,
    /// It succeeded in a block that stays.
    Final,
    /// It failed in a block that stays, or can never be in one.
    Failed,
}

impl TransactionStatus {
    pub fn new(hash: Hash256, status: IntentStatus) -> Self {
        let state = match status.state {
            TxState::Queued => TransactionState::Queued,
            TxState::Signed => TransactionState::Signed,
            TxState::Sent => TransactionState::Sent,
            TxState::Included => TransactionState::Included,
            TxState::Final => TransactionState::Final,
            TxState::Failed => TransactionState::Failed,
        };
        let IntentStatus { chain, block, confirmations, succeeded, .. } = status;
        Self { hash, tx_hash: status.hash.unwrap_or(hash), state, chain, block, confirmations, succeeded }
    }
}
