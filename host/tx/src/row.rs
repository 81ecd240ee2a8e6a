//! Rows of the journal.

use alloy_primitives::{Address, B256, Bytes, U256};
use plugin_api::manifest::TxState;
use serde::{Deserialize, Deserializer, de};

/// A transaction that a plugin wants to have sent once, and its state.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct IntentRow {
    pub id: i64,
    pub plugin: String,
    pub role: String,
    pub name: String,
    pub chain: String,
    pub target: Address,
    #[serde(deserialize_with = "wei")]
    pub value_wei: U256,
    pub data: String,
    pub gas: Option<i64>,
    pub valid_until_s: Option<i64>,
    pub state: TxState,
    pub reason: Option<String>,
    pub sender: Option<Address>,
    pub nonce: Option<i64>,
    pub hash: Option<B256>,
    pub block: Option<i64>,
    pub block_hash: Option<B256>,
    pub succeeded: Option<i64>,
    pub gas_used: Option<i64>,
    pub fee_wei: Option<String>,
    pub version: i64,
    pub created_ms: i64,
}

pub(crate) const INTENT_COLUMNS: &str = "id, plugin, role, name, chain, target, value_wei, data, gas, valid_until_s, state, \
     reason, sender, nonce, hash, block, block_hash, succeeded, gas_used, fee_wei, version, created_ms";

impl IntentRow {
    /// The nonce, or 0 for an intent that has none.
    pub(crate) fn nonce(&self) -> u64 {
        self.nonce.and_then(|nonce| u64::try_from(nonce).ok()).unwrap_or_default()
    }

    /// The call as bytes, or why they cannot be signed.
    pub(crate) fn call_data(&self) -> Result<Bytes, String> {
        self.data.parse().map_err(|_| format!("the call of intent {} is not 0x…", self.id))
    }

    /// Whether it is signed and in no block.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.state, TxState::Signed | TxState::Sent)
    }
}

/// One signed transaction of an intent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Attempt {
    pub hash: B256,
    pub intent: i64,
    pub nonce: i64,
    pub raw: String,
    pub gas: i64,
    #[serde(deserialize_with = "wei")]
    pub tip_wei: U256,
    #[serde(deserialize_with = "wei")]
    pub max_fee_wei: U256,
    /// The newest block when the transaction was signed.
    pub block: i64,
    pub signed_ms: i64,
    /// When a server last accepted it.
    pub sent_ms: Option<i64>,
    /// Why the intent was cancelled, for the empty transfer that uses its nonce; None for the intent itself. The column is called
    /// `given_up`.
    #[serde(rename = "given_up")]
    pub cancel_reason: Option<String>,
}

pub(crate) const ATTEMPT_COLUMNS: &str =
    "hash, intent, nonce, raw, gas, tip_wei, max_fee_wei, block, signed_ms, sent_ms, given_up";

impl Attempt {
    /// The most that the gas can cost, in wei.
    pub(crate) fn fee_max(&self) -> U256 {
        self.max_fee_wei.saturating_mul(U256::from(self.gas.unsigned_abs()))
    }
}

fn wei<'de, D: Deserializer<'de>>(deserializer: D) -> Result<U256, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    U256::from_str_radix(&text, 10).map_err(de::Error::custom)
}
