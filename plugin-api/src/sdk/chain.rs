//! Chains: their state, and what handlers of chain events get. Needs the chain's name in the grants.
//!
//! A handler of chain events derives its rows from the event alone. It does not ask the chain: its transaction is open
//! meanwhile, and an answer about the state would not be the one that a fresh index gets.

use super::{Address, Gateway, Hash256, HostHandle, Tx, Wei, definition::OnChainEvent, job};
use crate::{
    abi::{EventSource, Fault, FfiBytes, HostError, HostErrorCode, SubscribedEvent},
    manifest::{BlockInfo, CallAnswer, CallQuestion, ChainAsk, ChainEvent, ChainQuestion, ReceiptInfo},
};
use abi_stable::std_types::{RResult, RVec};
use async_ffi::FfiFuture;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// The chain that contracts, agents and jobs are on.
pub const MAIN: &str = "main";

/// A chain of the gateway's configuration; made by [`HostHandle::chain`].
pub struct Chain<'h> {
    host: &'h HostHandle,
    name: String,
    agreed: bool,
}

/// A call of a contract that changes nothing.
#[derive(Clone, Debug)]
pub struct ContractCall(CallQuestion);

impl ContractCall {
    /// `function` is its signature with results, for example `balanceOf(address) returns (uint256)`.
    pub fn new(to: Address, function: &str) -> Self {
        Self(CallQuestion { to, function: function.to_owned(), args: Vec::new() })
    }

    /// The next argument: a text, a number or a list.
    pub fn arg(mut self, value: impl Serialize) -> Result<Self, HostError> {
        self.0.args.push(serde_json::to_value(value).map_err(invalid)?);
        Ok(self)
    }
}

impl HostHandle {
    pub fn chain(&self, name: &str) -> Chain<'_> {
        Chain { host: self, name: name.to_owned(), agreed: false }
    }
}

impl Chain<'_> {
    /// For what decides about money: every question is asked of two servers of the operator's configuration, at a block that
    /// both have, and answered when they say the same. An [`HostErrorCode::Unavailable`] says why there is no answer: there is
    /// one server only, one is silent, or they differ.
    pub fn agreed(self) -> Self {
        Self { agreed: true, ..self }
    }

    /// The newest block.
    pub async fn head(&self) -> Result<BlockInfo, HostError> {
        self.ask(ChainAsk::Head).await
    }

    /// The newest block that a reorganisation does not take back any more.
    pub async fn finalized(&self) -> Result<BlockInfo, HostError> {
        self.ask(ChainAsk::Finalized).await
    }

    /// The block of that number, if there is one by now.
    pub async fn block(&self, number: u64) -> Result<Option<BlockInfo>, HostError> {
        self.ask(ChainAsk::Block { number }).await
    }

    /// One call at the newest block. A function with one result gives that, one with several a tuple or struct in their
    /// order. A call that reverts is an [`HostErrorCode::Invalid`].
    pub async fn call<T: DeserializeOwned>(&self, call: ContractCall) -> Result<T, HostError> {
        let mut answers = self.calls(vec![call], None).await?;
        answers.pop().ok_or_else(|| HostError::new(HostErrorCode::Internal, "no answer to a call"))?
    }

    /// Several calls, all in the state after the same block (the newest unless said). Each may revert by itself.
    pub async fn calls<T: DeserializeOwned>(
        &self,
        calls: Vec<ContractCall>,
        block: Option<u64>,
    ) -> Result<Vec<Result<T, HostError>>, HostError> {
        let calls = calls.into_iter().map(|call| call.0).collect();
        let answers: Vec<CallAnswer> = self.ask(ChainAsk::Call { calls, block }).await?;
        let read = |answer| match answer {
            CallAnswer::Value(value) => serde_json::from_value(value).map_err(invalid),
            CallAnswer::Reverted(reason) => Err(HostError::new(HostErrorCode::Invalid, reason)),
        };
        Ok(answers.into_iter().map(read).collect())
    }

    /// The events of one signature at an address, in their order. For a look back; what must be known of every event is
    /// derived by [`super::Definition::on_chain_event`].
    pub async fn logs<Args: DeserializeOwned>(
        &self,
        address: Address,
        event: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<ChainEvent<Args>>, HostError> {
        self.ask(ChainAsk::Logs { address, event: event.to_owned(), from, to }).await
    }

    /// The code at an address as `0x…`; `0x` for an account.
    pub async fn code(&self, address: Address) -> Result<String, HostError> {
        self.ask(ChainAsk::Code { address }).await
    }

    /// What an address has, at the newest block unless said.
    pub async fn balance(&self, address: Address, block: Option<u64>) -> Result<Wei, HostError> {
        self.ask(ChainAsk::Balance { address, block }).await
    }

    /// What a transaction came to, if it is in a block by now. A block that is not final may still be taken back.
    pub async fn receipt(&self, tx: Hash256) -> Result<Option<ReceiptInfo>, HostError> {
        self.ask(ChainAsk::Receipt { tx }).await
    }

    async fn ask<T: DeserializeOwned>(&self, ask: ChainAsk) -> Result<T, HostError> {
        let question = ChainQuestion { chain: self.name.clone(), ask, agreed: self.agreed };
        let reply = self.host.ask("chain", &question, FfiBytes::default()).await?;
        serde_json::from_slice(&reply.answer).map_err(invalid)
    }
}

/// Deferred statements are sent after so many events, so that they do not pile up.
const FLUSH_EVENTS: usize = 250;

impl<Args: DeserializeOwned> ChainEvent<Args> {
    pub(super) fn read(source: &EventSource, event: &SubscribedEvent) -> Result<Self, HostError> {
        // Looked at once whether it is text, in place of each of its strings.
        let args = std::str::from_utf8(&event.args)
            .map_or_else(|_| serde_json::from_slice(&event.args), serde_json::from_str)
            .map_err(invalid)?;
        Ok(Self {
            chain: source.chain.to_string(),
            contract: source.contract.to_string(),
            address: Address(source.address),
            event: source.event.to_string(),
            args,
            block: event.block,
            block_hash: Hash256(event.block_hash),
            time_s: event.time_s,
            tx: Hash256(event.tx),
            tx_index: event.tx_index,
            log_index: event.log_index,
        })
    }
}

/// Applies events one after the other.
pub(super) fn apply<P: Send + Sync + 'static>(
    gateway: &Gateway<P>,
    handlers: Arc<[OnChainEvent<P>]>,
    sources: RVec<EventSource>,
    events: RVec<SubscribedEvent>,
    tx: Tx,
) -> FfiFuture<RResult<(), Fault>> {
    let gateway_of_call = gateway.clone();
    job::contained(gateway, "chain events", move || async move {
        for (place, event) in (0u32..).zip(&events) {
            let missing = || HostError::new(HostErrorCode::Invalid, "the plugin has no such subscription");
            let source = sources.get(event.source as usize).ok_or_else(missing)?;
            let handler = handlers.get(source.subscription as usize).ok_or_else(missing)?;
            tx.begin_event(place);
            handler(&gateway_of_call, tx.clone(), source, event).await?;
            if (place as usize + 1).is_multiple_of(FLUSH_EVENTS) {
                tx.flush().await?;
            }
        }
        tx.flush().await
    })
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

/// For arguments that are larger than they need to be, such as ids of 256 bits:
/// `#[serde(deserialize_with = "plugin_api::chain_int")] id: i64`.
pub fn chain_int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Small(i64),
        Text(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Small(value) => Ok(value),
        Number::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}
