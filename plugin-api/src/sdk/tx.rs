//! Transactions on a chain: recorded with the plugin's own rows, then signed, sent and pursued by the gateway. The role must
//! be among the grants (`signer_roles`), and the chain too (`chains`).
//!
//! An intent is sent once, whatever happens to the gateway meanwhile: its key names it, and recording it again with the same
//! content is the same intent. A role without a key is a [`HostErrorCode::Disabled`], and so is a key that cannot pay: a handler
//! that hands it on with `?` answers 503 `disabled` with the reason, and nothing was recorded.

use super::{Address, HostHandle, MAIN_CHAIN, Tx, Wei};
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode, Reply},
    manifest::{Intent, IntentStatus, Lane, TxCall, TxQuestion},
};
use alloy_primitives::hex;
use serde::{Serialize, de::DeserializeOwned};

/// A transaction to be recorded.
#[derive(Clone, Debug)]
pub struct SendTx(Intent);

impl SendTx {
    /// A transfer of nothing to `to` on the main chain, paid by the key of `role`. `key` names it among all that this plugin
    /// sends with this role: 1 to 200 characters.
    pub fn new(role: &str, key: impl Into<String>, to: Address) -> Self {
        Self(Intent {
            role: role.to_owned(),
            chain: MAIN_CHAIN.to_owned(),
            key: key.into(),
            to,
            value: Wei::ZERO,
            call: TxCall::Data("0x".to_owned()),
            gas: None,
            valid_until_s: None,
        })
    }

    /// In wei.
    pub fn value(mut self, value: Wei) -> Self {
        self.0.value = value;
        self
    }

    /// Calls a function of the contract at `to`, for example `settle(uint256,bytes)`, with the arguments in its order:
    /// texts, numbers and lists, as for [`super::ContractCall`].
    pub fn call(mut self, function: &str, args: &[impl Serialize]) -> Result<Self, HostError> {
        let args = args.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(malformed)?;
        self.0.call = TxCall::Function { function: function.to_owned(), args };
        Ok(self)
    }

    /// The call as bytes.
    pub fn data(mut self, data: &[u8]) -> Self {
        self.0.call = TxCall::Data(hex::encode_prefixed(data));
        self
    }

    /// Gas limit. One whose estimate is above it fails unsent. Without a limit: the estimate and a fifth more.
    pub fn gas(mut self, gas: u64) -> Self {
        self.0.gas = Some(gas);
        self
    }

    /// Unix seconds after which it is not begun any more.
    pub fn valid_until_s(mut self, until_s: i64) -> Self {
        self.0.valid_until_s = Some(until_s);
        self
    }

    /// On another chain than the main one.
    pub fn chain(mut self, name: &str) -> Self {
        self.0.chain = name.to_owned();
        self
    }

    /// Records it in this transaction: it is sent when that is committed, and never if it is not. Answers its id.
    pub async fn record(self, tx: &Tx) -> Result<i64, HostError> {
        read(&tx.ask("tx", &TxQuestion::Send(self.0)).await?)
    }

    /// Records it in a transaction of its own. Answers its id.
    pub async fn send(self, host: &HostHandle) -> Result<i64, HostError> {
        let tx = host.begin();
        let id = self.record(&tx).await?;
        tx.commit().await?;
        Ok(id)
    }
}

impl HostHandle {
    /// What became of an intent of this plugin.
    pub async fn sent(&self, id: i64) -> Result<Option<IntentStatus>, HostError> {
        self.ask_journal(TxQuestion::Status { id }).await
    }

    /// The same by the key it was recorded with.
    pub async fn sent_as(&self, role: &str, key: &str) -> Result<Option<IntentStatus>, HostError> {
        self.ask_journal(TxQuestion::Find { role: role.to_owned(), key: key.to_owned() }).await
    }

    /// How the key of a role stands on a chain: its balance, and what waits.
    pub async fn lane(&self, role: &str, chain: &str) -> Result<Lane, HostError> {
        self.ask_journal(TxQuestion::Lane { role: role.to_owned(), chain: chain.to_owned() }).await
    }

    async fn ask_journal<T: DeserializeOwned>(&self, question: TxQuestion) -> Result<T, HostError> {
        read(&self.ask("tx", &question, FfiBytes::default()).await?)
    }
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, HostError> {
    serde_json::from_slice(&reply.answer).map_err(malformed)
}

fn malformed(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
