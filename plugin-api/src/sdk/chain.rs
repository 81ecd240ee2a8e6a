//! Chains: reading their state, and dispatching chain events to handlers. Needs the chain's name in the grants.
//!
//! A handler of chain events derives its rows from the event alone. It must not read the chain: its transaction stays
//! open during the call, and a new index would read another state and derive other rows.

use super::{Address, Hash256, HostHandle, PluginContext, TransactionRequest, Tx, Wei, definition::ChainEventFn, job};
use crate::{
    abi::{EventSource, Fault, FfiBytes, HostError, HostErrorCode, SubscribedEvent},
    manifest::{
        BlockInfo, BlockTransactions, ChainCall, ChainEvent, ChainMethod, EthCall, EthCallResult, EventFilter,
        GasEstimate, IndexCall, IndexPosition, IndexedValue, MAIN, RawCallError, RawChainCall, RawChainReply,
        ReceiptInfo, SubscriptionSpec,
    },
};
use abi_stable::std_types::{RResult, RVec};
use async_ffi::FfiFuture;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A chain of the gateway's configuration; made by [`HostHandle::chain`].
pub struct Chain<'h> {
    host: &'h HostHandle,
    name: String,
    quorum: bool,
}

/// A read-only call of a contract (`eth_call`).
#[derive(Clone, Debug)]
pub struct ContractCall(EthCall);

impl ContractCall {
    /// `function` is its signature with results, for example `balanceOf(address) returns (uint256)`.
    pub fn new(to: Address, function: &str) -> Self {
        Self(EthCall { to, function: function.to_owned(), args: Vec::new(), gas: None })
    }

    /// The next argument: a text, a number or a list.
    pub fn arg(mut self, value: impl Serialize) -> Result<Self, HostError> {
        self.0.args.push(serde_json::to_value(value).map_err(invalid)?);
        Ok(self)
    }

    /// Gas that it may use at most, for a contract that calls code of strangers. With less than it needs it reverts.
    pub fn gas(mut self, gas: u64) -> Self {
        self.0.gas = Some(gas);
        self
    }
}

/// A method and its parameters as somebody else wrote them, for [`Chain::raw_call`].
#[derive(Clone, Debug)]
pub struct RawCall {
    method: String,
    params: Vec<u8>,
    timeout: Duration,
    result_bytes_max: u64,
}

/// The response to a [`RawCall`].
#[derive(Debug)]
pub struct RawAnswer {
    /// The result as JSON.
    pub result: Result<FfiBytes, RawCallError>,
    /// The newest block that no reorganisation undoes, by the gateway's own polls; none while no server responds to them.
    pub final_block: Option<u64>,
}

impl RawCall {
    /// `params` is a JSON array. Times out after 10 s; a result has at most 5 MiB.
    pub fn new(method: impl Into<String>, params: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            params: params.into().into_bytes(),
            timeout: Duration::from_secs(10),
            result_bytes_max: 5 * 1024 * 1024,
        }
    }

    /// Of the whole call, over all servers; at most a minute.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Also bounds what the server sends around the result.
    pub fn result_bytes_max(self, result_bytes_max: u64) -> Self {
        Self { result_bytes_max, ..self }
    }
}

impl EventFilter {
    /// The events of a signature with the names of its arguments, for example
    /// `Transfer(address indexed from, address indexed to, uint256 value)`.
    pub fn new(address: Address, event: &str) -> Self {
        Self { address, event: event.to_owned(), indexed: BTreeMap::new() }
    }

    /// Those whose indexed argument has one of these values (addresses, numbers, hashes), at most 1,000.
    pub fn any_of<T: Serialize>(mut self, argument: &str, values: &[T]) -> Result<Self, HostError> {
        let values = values.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(invalid)?;
        self.indexed.insert(argument.to_owned(), values);
        Ok(self)
    }
}

impl SubscriptionSpec {
    /// The events of a signature, with the names of its arguments, of a contract of the main chain. `contract` is its key in the
    /// gateway's configuration.
    pub fn new(contract: &str, event: &str) -> Self {
        Self {
            chain: MAIN.to_owned(),
            contract: contract.to_owned(),
            event: event.to_owned(),
            indexed: BTreeMap::new(),
            derived_tables: Vec::new(),
        }
    }

    /// On another chain of the gateway's configuration, which the plugin's grants name.
    pub fn on_chain(self, chain: &str) -> Self {
        Self { chain: chain.to_owned(), ..self }
    }

    /// Only those whose indexed argument has one of these values: addresses, numbers or hashes as text, or numbers. At most
    /// 1,000 for an argument, with those of [`Self::any_contract_of`].
    pub fn any_of<T: Into<Value> + Clone>(self, argument: &str, values: &[T]) -> Self {
        self.looking_for(argument, values.iter().cloned().map(|value| IndexedValue::Value(value.into())))
    }

    /// Only those whose indexed argument is one of these contracts, named by their keys in the chain's configuration: so the
    /// operator decides which addresses are meant.
    pub fn any_contract_of(self, argument: &str, keys: &[&str]) -> Self {
        self.looking_for(argument, keys.iter().map(|key| IndexedValue::Contract((*key).to_owned())))
    }

    /// The tables that the handler writes, and nobody else.
    pub fn deriving(self, tables: &[&str]) -> Self {
        Self { derived_tables: tables.iter().map(ToString::to_string).collect(), ..self }
    }

    fn looking_for(mut self, argument: &str, values: impl Iterator<Item = IndexedValue>) -> Self {
        self.indexed.entry(argument.to_owned()).or_default().extend(values);
        self
    }
}

impl HostHandle {
    pub fn chain(&self, name: &str) -> Chain<'_> {
        Chain { host: self, name: name.to_owned(), quorum: false }
    }
}

impl Chain<'_> {
    /// For decisions about money: every request goes to two RPC servers of the operator's configuration, at a block that
    /// both have, and succeeds when their responses are equal. Otherwise it is an [`HostErrorCode::Unavailable`] with the
    /// reason: only one server is configured, one does not respond, or they differ.
    pub fn quorum(self) -> Self {
        Self { quorum: true, ..self }
    }

    /// The newest block.
    pub async fn head(&self) -> Result<BlockInfo, HostError> {
        self.request(ChainMethod::Head).await
    }

    /// The newest block that a reorganisation can no longer remove.
    pub async fn finalized(&self) -> Result<BlockInfo, HostError> {
        self.request(ChainMethod::Finalized).await
    }

    /// How far the plugin's own index of this chain is; `None` before it has a block, and while it begins anew. Ask before you read the
    /// rows: these are then of that block or of a later one.
    pub async fn indexed(&self) -> Result<Option<IndexPosition>, HostError> {
        let request = IndexCall { chain: self.name.clone() };
        let response = self.host.call_capability("index", &request, FfiBytes::default()).await?;
        serde_json::from_slice(&response.response).map_err(invalid)
    }

    /// The block with this number; `None` when it is not mined yet.
    pub async fn block(&self, number: u64) -> Result<Option<BlockInfo>, HostError> {
        self.request(ChainMethod::Block { number }).await
    }

    /// One call at the newest block. One result decodes into `T`; several decode into a tuple or struct in their order.
    /// A call that reverts is an [`HostErrorCode::Invalid`].
    pub async fn call<T: DeserializeOwned>(&self, call: ContractCall) -> Result<T, HostError> {
        let mut results = self.calls(vec![call], None).await?;
        results.pop().ok_or_else(|| HostError::new(HostErrorCode::Internal, "no answer to a call"))?
    }

    /// Several calls, all in the state after the same block (the newest by default). Each may revert independently.
    pub async fn calls<T: DeserializeOwned>(
        &self,
        calls: Vec<ContractCall>,
        block: Option<u64>,
    ) -> Result<Vec<Result<T, HostError>>, HostError> {
        let calls = calls.into_iter().map(|call| call.0).collect();
        Ok(decoded(self.request(ChainMethod::Call { calls, block }).await?))
    }

    /// The same in the state after the block with this hash; `None` when the chain has no such block, or a reorganisation has removed it.
    /// Servers that take no hash here (EIP-1898) make it an [`HostErrorCode::Unavailable`].
    pub async fn calls_at<T: DeserializeOwned>(
        &self,
        calls: Vec<ContractCall>,
        block: Hash256,
    ) -> Result<Option<Vec<Result<T, HostError>>>, HostError> {
        let calls = calls.into_iter().map(|call| call.0).collect();
        let answers: Option<Vec<EthCallResult>> = self.request(ChainMethod::CallAt { calls, block }).await?;
        Ok(answers.map(decoded))
    }

    /// The block with this number and its transactions; `None` when it is not mined yet.
    pub async fn transactions(&self, number: u64) -> Result<Option<BlockTransactions>, HostError> {
        self.request(ChainMethod::Transactions { block: number }).await
    }

    /// The events of blocks `from` to `to`, in chain order. For occasional queries; to process every event, use
    /// [`super::Definition::on_subscription`].
    pub async fn logs<Args: DeserializeOwned>(
        &self,
        filter: EventFilter,
        from: u64,
        to: u64,
    ) -> Result<Vec<ChainEvent<Args>>, HostError> {
        self.request(ChainMethod::Logs { filter, from, to }).await
    }

    /// The code at an address as `0x…`; `0x` when it is not a contract.
    pub async fn code(&self, address: Address) -> Result<String, HostError> {
        self.request(ChainMethod::Code { address }).await
    }

    /// The balance of an address, at the newest block by default.
    pub async fn balance(&self, address: Address, block: Option<u64>) -> Result<Wei, HostError> {
        self.request(ChainMethod::Balance { address, block }).await
    }

    /// The receipt of a transaction; `None` while it is in no block. A reorganisation may remove a block that is not final.
    pub async fn receipt(&self, tx: Hash256) -> Result<Option<ReceiptInfo>, HostError> {
        self.request(ChainMethod::Receipt { tx }).await
    }

    /// The number of transactions that an address has sent, after the newest block.
    pub async fn transaction_count(&self, address: Address) -> Result<u64, HostError> {
        self.request(ChainMethod::TransactionCount { address }).await
    }

    /// What this transaction would use after the newest block if `from` sent it: nothing is sent. Its role, key and time are not
    /// looked at; its chain is this one.
    pub async fn estimate(&self, from: Address, transaction: &TransactionRequest) -> Result<GasEstimate, HostError> {
        self.request(transaction.estimate_from(from)).await
    }

    /// Sends a method that the caller chose to the healthiest server, and to the next one while none responds. Such calls have
    /// connections and a bound of their own and are no part of the servers' health, so that they delay nothing and put no server
    /// aside. The gateway does not look at the method: allow only what strangers may do. Needs the grant `raw_calls`.
    pub async fn raw_call(&self, call: RawCall) -> Result<RawAnswer, HostError> {
        let request = RawChainCall {
            chain: self.name.clone(),
            method: call.method,
            timeout_ms: u64::try_from(call.timeout.as_millis()).unwrap_or(u64::MAX),
            result_bytes_max: call.result_bytes_max,
        };
        let answered = self.host.call_capability("raw_call", &request, call.params.into()).await?;
        let reply: RawChainReply = serde_json::from_slice(&answered.response).map_err(invalid)?;
        let result = reply.error.map_or(Ok(answered.body), Err);
        Ok(RawAnswer { result, final_block: reply.final_block })
    }

    async fn request<T: DeserializeOwned>(&self, method: ChainMethod) -> Result<T, HostError> {
        let request = ChainCall { chain: self.name.clone(), method, quorum: self.quorum };
        let response = self.host.call_capability("chain", &request, FfiBytes::default()).await?;
        serde_json::from_slice(&response.response).map_err(invalid)
    }
}

/// Deferred statements are flushed after this many events, which bounds the memory that they hold.
const FLUSH_EVENTS: usize = 250;

impl<Args: DeserializeOwned> ChainEvent<Args> {
    pub(super) fn decode(source: &EventSource, event: &SubscribedEvent) -> Result<Self, HostError> {
        // One UTF-8 check of the whole buffer replaces serde_json's check of each string.
        let args = std::str::from_utf8(&event.args)
            .map_or_else(|_| serde_json::from_slice(&event.args), serde_json::from_str)
            .map_err(invalid)?;
        Ok(Self {
            chain: source.chain.to_string(),
            contract: source.contract.to_string(),
            address: source.address,
            event: source.event.to_string(),
            args,
            log: event.log,
        })
    }
}

/// Calls the handler of each event, one after the other.
pub(super) fn dispatch<P: Send + Sync + 'static>(
    cx: &PluginContext<P>,
    handlers: Arc<[ChainEventFn<P>]>,
    sources: RVec<EventSource>,
    events: RVec<SubscribedEvent>,
    tx: Tx,
) -> FfiFuture<RResult<(), Fault>> {
    let cx_of_call = cx.clone();
    job::contained(cx, "chain events", move || async move {
        for (index, event) in (0u32..).zip(&events) {
            let missing = || HostError::new(HostErrorCode::Invalid, "the plugin has no such subscription");
            let source = sources.get(event.source as usize).ok_or_else(missing)?;
            let handler = handlers.get(source.subscription as usize).ok_or_else(missing)?;
            tx.begin_event(index);
            handler(&cx_of_call, tx.clone(), source, event).await?;
            if (index as usize + 1).is_multiple_of(FLUSH_EVENTS) {
                tx.flush().await?;
            }
        }
        tx.flush().await
    })
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

/// Decodes a 256-bit argument whose values fit into 64 bits, such as an id:
/// `#[serde(deserialize_with = "plugin_api::contracts::chain_int")] id: i64`. Larger values are an error.
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

fn decoded<T: DeserializeOwned>(answers: Vec<EthCallResult>) -> Vec<Result<T, HostError>> {
    let decode = |answer| match answer {
        EthCallResult::Value(value) => serde_json::from_value(value).map_err(invalid),
        EthCallResult::Reverted(reason) => Err(HostError::new(HostErrorCode::Invalid, reason)),
    };
    answers.into_iter().map(decode).collect()
}
