//! Transactions on a chain. A plugin records them with its own rows; the gateway then signs, sends and confirms them. The
//! role must be among the grants (`signer_roles`), and the chain too (`chains`).
//!
//! An intent is sent once, also across crashes of the gateway: its key identifies it, and recording it again with the same
//! content has no effect. A role without a key is a [`HostErrorCode::Disabled`], and so is a key that cannot pay: a handler
//! that returns it with `?` responds 503 `disabled` with the reason, and nothing is recorded.

use super::{Address, Bind, HostHandle, Tx, Wei};
use crate::{
    abi::{CapabilityResponse, FfiBytes, HostError, HostErrorCode, Value},
    manifest::{
        ChainMethod, Intent, IntentFailure, IntentStatus, JournalCall, MAIN, NonceQueueStatus, TxCall, TxState,
    },
};
use alloy_primitives::hex;
use serde::{Serialize, de::DeserializeOwned};
use std::time::Duration;

/// Between two looks at an intent that is to be signed.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A transaction that the gateway is to send.
#[derive(Clone, Debug)]
pub struct TransactionRequest(Intent);

impl TransactionRequest {
    /// A transfer of 0 wei to `to` on the main chain, paid by the key of `role`. `key` identifies it among all transactions
    /// that this plugin sends with this role: 1 to 200 characters.
    pub fn new(role: &str, key: impl Into<String>, to: Address) -> Self {
        Self(Intent {
            role: role.to_owned(),
            chain: MAIN.to_owned(),
            key: key.into(),
            to,
            value: Wei::ZERO,
            call: TxCall::Data("0x".to_owned()),
            gas: None,
            valid_until_s: None,
        })
    }

    /// Another key: for a request whose key is known only in the write that records it.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.0.key = key.into();
        self
    }

    /// In wei.
    pub fn value(mut self, value: Wei) -> Self {
        self.0.value = value;
        self
    }

    /// Calls a function of the contract at `to`, for example `settle(uint256,bytes)`. Arguments are texts, numbers and
    /// lists, as for [`super::ContractCall`].
    pub fn call(mut self, function: &str, args: &[impl Serialize]) -> Result<Self, HostError> {
        let args = args.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(malformed)?;
        self.0.call = TxCall::Function { function: function.to_owned(), args };
        Ok(self)
    }

    /// The calldata as bytes.
    pub fn data(mut self, data: &[u8]) -> Self {
        self.0.call = TxCall::Data(hex::encode_prefixed(data));
        self
    }

    /// Gas limit. A transaction whose estimate is above it fails and is not sent. Default: the estimate and a fifth more.
    pub fn gas(mut self, gas: u64) -> Self {
        self.0.gas = Some(gas);
        self
    }

    /// Unix seconds after which the gateway no longer signs it.
    pub fn valid_until_s(mut self, until_s: i64) -> Self {
        self.0.valid_until_s = Some(until_s);
        self
    }

    /// Sends it on this chain instead of the main one.
    pub fn chain(mut self, name: &str) -> Self {
        self.0.chain = name.to_owned();
        self
    }

    pub(super) fn estimate_from(&self, from: Address) -> ChainMethod {
        let Intent { to, value, call, gas, .. } = self.0.clone();
        ChainMethod::Estimate { from, to, value, call, gas }
    }

    /// Records it in this database transaction: the gateway sends it only when that commits. Returns its id.
    pub async fn record(self, tx: &Tx) -> Result<i64, HostError> {
        decode(&tx.call_capability("tx", &JournalCall::Send(self.0)).await?)
    }

    /// Records it in a database transaction of its own. Returns its id.
    pub async fn send(self, host: &HostHandle) -> Result<i64, HostError> {
        host.write(async move |tx| self.clone().record(tx).await).await
    }
}

/// How an intent ended, as it stands in a column: `done`, `reverted` or `returned`.
///
/// ```
/// use plugin_api::{HostError, HostHandle, chain::IntentEnd, sql};
///
/// async fn follow(host: &HostHandle, id: i64, intent: i64) -> Result<(), HostError> {
///     let Some(end) = host.intent_status(intent).await?.and_then(|status| status.end()) else { return Ok(()) };
///     if end == IntentEnd::Returned {
///         host.info("what was counted for it can be given back");
///     }
///     let update = sql("UPDATE notes_gifts SET state = $2 WHERE id = $1").bind((id, end));
///     host.write(async move |tx| tx.execute(update.clone()).await.map(drop)).await
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentEnd {
    Done,
    /// It failed in a block.
    Reverted,
    /// It never was in a block, and never will be: see [`IntentStatus::was_never_carried_out`].
    Returned,
}

impl Bind for IntentEnd {
    fn into_value(self) -> Value {
        match self {
            Self::Done => "done",
            Self::Reverted => "reverted",
            Self::Returned => "returned",
        }
        .into_value()
    }
}

impl IntentStatus {
    /// `None` while it can still be carried out or undone.
    pub fn end(&self) -> Option<IntentEnd> {
        match self.state {
            TxState::Final => Some(IntentEnd::Done),
            TxState::Failed if self.was_never_carried_out() => Some(IntentEnd::Returned),
            TxState::Failed => Some(IntentEnd::Reverted),
            _ => None,
        }
    }

    /// Whether it has failed before its call was ever in a block, so that it cost its sender nothing of what it was for: what was
    /// counted for it can be given back. A call that reverted in a block was carried out, in vain.
    pub fn was_never_carried_out(&self) -> bool {
        self.state == TxState::Failed && (self.block.is_none() || self.is_cancelled)
    }

    /// Whether it has failed by what its call does: it reverts, or takes more gas than the intent's limit. No fault of the gateway, of the
    /// RPC servers or of the sender's account.
    pub fn has_call_failed(&self) -> bool {
        matches!(self.failure, Some(IntentFailure::Reverted | IntentFailure::OutOfGas))
    }
}

impl HostHandle {
    /// The status of an intent of this plugin.
    pub async fn intent_status(&self, id: i64) -> Result<Option<IntentStatus>, HostError> {
        self.call_journal(JournalCall::Status { id }).await
    }

    /// The status of the intent that was recorded with this key.
    pub async fn find_intent(&self, role: &str, key: &str) -> Result<Option<IntentStatus>, HostError> {
        self.call_journal(JournalCall::Find { role: role.to_owned(), key: key.to_owned() }).await
    }

    /// Waits until an intent of this plugin is signed, so that it has a hash, or has failed; at most this long. Then returns its
    /// status as it is, which may be [`TxState::Queued`] still.
    pub async fn wait_until_signed(&self, id: i64, at_most: Duration) -> Result<Option<IntentStatus>, HostError> {
        let mut remaining = at_most;
        loop {
            let status = self.intent_status(id).await?;
            let is_queued = status.as_ref().is_some_and(|status| status.state == TxState::Queued);
            if !is_queued || remaining.is_zero() {
                return Ok(status);
            }
            let pause = remaining.min(LOOK_INTERVAL);
            self.sleep(pause).await;
            remaining -= pause;
        }
    }

    /// The nonce queue of a role's key on a chain: its balance, and its queued and pending transactions.
    pub async fn nonce_queue(&self, role: &str, chain: &str) -> Result<NonceQueueStatus, HostError> {
        self.call_journal(JournalCall::NonceQueue { role: role.to_owned(), chain: chain.to_owned() }).await
    }

    pub(super) async fn call_journal<T: DeserializeOwned>(&self, request: JournalCall) -> Result<T, HostError> {
        decode(&self.call_capability("tx", &request, FfiBytes::default()).await?)
    }
}

fn decode<T: DeserializeOwned>(response: &CapabilityResponse) -> Result<T, HostError> {
    serde_json::from_slice(&response.response).map_err(malformed)
}

fn malformed(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
