//! Requests of plugins to a chain.
//!
//! The rule: the request names the chain, and the plugin's grants decide whether it may read it; a response about the
//! state of the chain is about one block, so that several calls see the same state.

use super::{
    Chain, ChainError, Header, RangeError,
    abi_value::{AbiValue, EventArguments, argument_value},
    block_transactions::{BlockWithTransactions, block_with_transactions},
    chains::Chains,
    error::{RpcError, sanitize_line},
    event_decoder::EventDecoder,
    log_filter::LogFilter,
    raw_log::RawLog,
    receipt::{ReceiptWithLogs, receipt_request},
    rpc_client::{RpcRequest, missing_response},
    rpc_server::{RpcServer, block_by_hash, block_by_number, hex_number},
};
use alloy::{
    dyn_abi::{FunctionExt as _, JsonAbiExt as _, Specifier as _},
    json_abi::Function,
};
use alloy_primitives::{Address, B256, Bytes, U64, U256, hex};
use gateway_config::MAIN;
use plugin_api::{
    abi::{HostError, HostErrorCode},
    host::decode_call,
    manifest::{
        BlockInfo, ChainCall, ChainEvent, ChainMethod, EthCall, EthCallResult, EventFilter, GasEstimate, TxCall,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{slice, sync::Arc};

/// Calls of one request.
const CALLS_MAX: usize = 500;
/// Blocks of one request for events; for more there are subscriptions.
const LOG_BLOCKS_MAX: u64 = 10_000;

impl Chains {
    /// Handles a plugin's request; `granted` are the chains that it may read.
    pub async fn respond(&self, granted: &[String], request: &[u8]) -> Result<Value, HostError> {
        let request: ChainCall = decode_call("a call of a chain", request)?;
        let chain = self.granted(granted, &request.chain)?;
        match request.quorum {
            true => chain.quorum_response(request.method).await,
            false => chain.respond(request.method).await,
        }
    }

    /// The chain of this name, if it is among those that the plugin may read.
    pub fn granted(&self, granted: &[String], name: &str) -> Result<&Arc<Chain>, HostError> {
        if !granted.iter().any(|chain| chain == name) {
            let message = format!("the plugin does not declare the chain `{name}` in its grants");
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        self.get(name).ok_or_else(|| {
            let hint = if name == MAIN { ": add a section [chains.main]" } else { "" };
            HostError::new(HostErrorCode::Disabled, format!("no chain `{name}` is configured{hint}"))
        })
    }
}

impl Chain {
    pub(super) async fn respond(&self, request: ChainMethod) -> Result<Value, HostError> {
        match request {
            ChainMethod::Head => Ok(block_info(Some(self.require_head()?))),
            ChainMethod::Finalized => self.block(self.final_number(self.require_head()?.number)).await,
            ChainMethod::Block { number } => self.block(number).await,
            ChainMethod::Call { calls, block } => {
                // All calls see the state after one block, whichever server responds.
                let block = match block {
                    Some(block) => block,
                    None => self.require_head()?.number,
                };
                self.calls(&parsed(&calls)?, hex_number(block)).await.map_err(host_error)
            }
            ChainMethod::CallAt { calls, block } => self.calls_at(&parsed(&calls)?, block.0.into()).await,
            ChainMethod::Transactions { block } => {
                let block: Option<BlockWithTransactions> = self.call(block_with_transactions(block)).await?;
                Ok(json!(block.map(BlockWithTransactions::into_info)))
            }
            ChainMethod::Logs { filter, from, to } => self.logs(&filter, from, to).await,
            ChainMethod::Code { address } => {
                let code: Bytes = self.call(RpcRequest::new("eth_getCode", json!([address, "latest"]))).await?;
                Ok(code.to_string().into())
            }
            ChainMethod::Balance { address, block } => {
                let request = RpcRequest::new("eth_getBalance", json!([address, block_parameter(block)]));
                let balance: U256 = self.call(request).await?;
                Ok(balance.to_string().into())
            }
            ChainMethod::Receipt { tx } => {
                let receipt: Option<ReceiptWithLogs> = self.call(receipt_request(tx.0.into())).await?;
                Ok(json!(receipt.map(ReceiptWithLogs::into_info)))
            }
            ChainMethod::TransactionCount { address } => {
                let request = RpcRequest::new("eth_getTransactionCount", json!([address, "latest"]));
                let count: U64 = self.call(request).await?;
                Ok(count.to::<u64>().into())
            }
            ChainMethod::Estimate { from, to, value, call, gas } => {
                let mut transaction =
                    json!({ "from": from, "to": to, "value": value.0, "data": call_data(to, &call).map_err(invalid)? });
                if let Some(gas) = gas {
                    transaction["gas"] = hex_number(gas);
                }
                Ok(json!(self.estimate(&transaction).await?))
            }
        }
    }

    async fn estimate(&self, transaction: &Value) -> Result<GasEstimate, HostError> {
        match self.estimate_gas(transaction).await {
            Ok(gas) => Ok(GasEstimate::Gas(gas)),
            Err(ChainError::Rpc { error: RpcError::ErrorResponse { message, .. }, .. }) => {
                Ok(GasEstimate::Fails(sanitize_line(&message)))
            }
            Err(error) => Err(host_error(error)),
        }
    }

    /// The newest block while a server answers.
    pub fn newest_block(&self) -> Result<BlockInfo, HostError> {
        self.require_head().map(BlockInfo::from)
    }

    pub(super) fn require_head(&self) -> Result<Header, HostError> {
        self.live_head().ok_or_else(|| host_error(self.unavailable()))
    }

    async fn block(&self, number: u64) -> Result<Value, HostError> {
        let header: Option<Header> = self.call(block_by_number(hex_number(number))).await?;
        Ok(block_info(header))
    }

    async fn call<T: DeserializeOwned>(&self, request: RpcRequest) -> Result<T, HostError> {
        self.with_failover(|server| call(server, request.clone())).await.map_err(host_error)
    }

    /// `block` as the servers take it: its number, or its hash.
    async fn calls(&self, calls: &[ContractCall], block: Value) -> Result<Value, ChainError> {
        let requests: Vec<RpcRequest> = calls.iter().map(|call| call.request(&block)).collect();
        let outputs = self.with_failover(|server| call_all(server, requests.clone())).await?;
        let decode = |(call, output): (&ContractCall, Result<Bytes, String>)| call.decode(output);
        let responses: Vec<EthCallResult> = calls.iter().zip(outputs).map(decode).collect();
        Ok(json!(responses))
    }

    /// In the state after the block with this hash (EIP-1898); null when the chain has no such block, or no longer.
    async fn calls_at(&self, calls: &[ContractCall], hash: B256) -> Result<Value, HostError> {
        let results = self.calls(calls, json!({ "blockHash": hash, "requireCanonical": true })).await;
        // Each server has its own words for a block that is gone, and some take no hash: so the block is looked for.
        if matches!(results, Err(ChainError::Rpc { .. })) && !self.is_canonical(hash).await? {
            return Ok(Value::Null);
        }
        results.map_err(host_error)
    }

    /// Whether the block is on the branch that the server follows.
    async fn is_canonical(&self, hash: B256) -> Result<bool, HostError> {
        let block: Option<Header> = self.call(block_by_hash(&hash.to_string())).await?;
        let Some(block) = block else { return Ok(false) };
        let canonical: Option<Header> = self.call(block_by_number(hex_number(block.number))).await?;
        Ok(canonical.is_some_and(|canonical| canonical.hash == hash))
    }

    async fn logs(&self, filter: &EventFilter, from: u64, to: u64) -> Result<Value, HostError> {
        let decoder = EventDecoder::parse(&filter.event).map_err(invalid)?;
        let indexed = decoder.indexed_topics(&filter.indexed).map_err(invalid)?;
        if to < from || to - from >= LOG_BLOCKS_MAX {
            return Err(invalid(format!("from {from} to {to}: events are told of 1 to {LOG_BLOCKS_MAX} blocks")));
        }
        let filter = LogFilter { addresses: vec![filter.address.0.into()], topics: vec![decoder.topic()], indexed };
        let (mut found, mut ranges) = (Vec::new(), vec![(from, to)]);
        while let Some((from, to)) = ranges.pop() {
            match self.logs_in_range(from, to, slice::from_ref(&filter)).await {
                Ok((logs, _)) => found.extend(logs),
                Err(RangeError::TooLarge(_)) => {
                    let middle = from + (to - from) / 2;
                    ranges.extend([(middle + 1, to), (from, middle)]);
                }
                Err(RangeError::Chain(error)) => return Err(host_error(error)),
            }
        }
        let event = |log| chain_event(&self.name, &decoder, log);
        let events: Vec<_> = found.iter().filter_map(event).collect();
        serde_json::to_value(events).map_err(|error| invalid(error.to_string()))
    }
}

/// A call of a contract's function with encoded arguments.
struct ContractCall {
    to: Address,
    function: Function,
    input: Bytes,
    gas: Option<u64>,
}

impl ContractCall {
    fn new(call: &EthCall) -> Result<Self, String> {
        let explain = |error: String| format!("`{}`: {}", call.function, error.replace('\n', " "));
        let function = Function::parse(&call.function).map_err(|error| explain(error.to_string()))?;
        if function.inputs.len() != call.args.len() {
            return Err(explain(format!("it takes {} arguments, not {}", function.inputs.len(), call.args.len())));
        }
        let value = |(input, argument): (&alloy::json_abi::Param, &Value)| {
            let kind = input.resolve().map_err(|error| error.to_string())?;
            argument_value(&kind, argument)
        };
        let values = function.inputs.iter().zip(&call.args).map(value).collect::<Result<Vec<_>, String>>();
        let input = function.abi_encode_input(&values.map_err(explain)?).map_err(|error| explain(error.to_string()))?;
        Ok(Self { to: call.to.0.into(), function, input: input.into(), gas: call.gas })
    }

    fn request(&self, block: &Value) -> RpcRequest {
        let mut call = json!({ "to": self.to, "data": self.input });
        if let Some(gas) = self.gas {
            call["gas"] = hex_number(gas);
        }
        RpcRequest::new("eth_call", json!([call, block]))
    }

    /// The decoded output, or why the call reverted.
    fn decode(&self, output: Result<Bytes, String>) -> EthCallResult {
        let output = match output {
            Ok(output) if output.is_empty() && !self.function.outputs.is_empty() => {
                return EthCallResult::Reverted("there is no such contract".to_owned());
            }
            Ok(output) => output,
            Err(reason) => return EthCallResult::Reverted(reason),
        };
        match self.function.abi_decode_output(&output) {
            Ok(values) => EthCallResult::Value(match values.as_slice() {
                [value] => json!(AbiValue(value)),
                values => values.iter().map(|value| json!(AbiValue(value))).collect(),
            }),
            Err(error) => EthCallResult::Reverted(format!("the result is none of this function: {error}")),
        }
    }
}

fn parsed(calls: &[EthCall]) -> Result<Vec<ContractCall>, HostError> {
    if calls.len() > CALLS_MAX {
        return Err(invalid(format!("{} calls at a time, at most {CALLS_MAX} are answered", calls.len())));
    }
    calls.iter().map(ContractCall::new).collect::<Result<_, _>>().map_err(invalid)
}

async fn call<T: DeserializeOwned>(server: &RpcServer, request: RpcRequest) -> Result<T, RpcError> {
    server.batch(vec![request]).await?.pop().unwrap_or_else(missing_response)
}

/// The outputs of all calls. A revert is an output; any other error fails the whole batch, so that another server is
/// tried.
async fn call_all(server: &RpcServer, requests: Vec<RpcRequest>) -> Result<Vec<Result<Bytes, String>>, RpcError> {
    let output = |response: Result<Bytes, RpcError>| match response {
        Ok(output) => Ok(Ok(output)),
        Err(error) if error.is_revert() => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    };
    server.batch(requests).await?.into_iter().map(output).collect()
}

/// The input of a call, as bytes.
pub fn call_data(to: plugin_api::Address, call: &TxCall) -> Result<Bytes, String> {
    match call {
        TxCall::Data(text) => {
            hex::decode(text).map(Bytes::from).map_err(|error| format!("the data is not 0x…: {error}"))
        }
        TxCall::Function { function, args } => encode_call(to, function, args),
    }
}

/// The input of a call, from the function's signature and arguments.
fn encode_call(to: plugin_api::Address, function: &str, args: &[Value]) -> Result<Bytes, String> {
    let call = EthCall { to, function: function.to_owned(), args: args.to_vec(), gas: None };
    ContractCall::new(&call).map(|call| call.input)
}

fn block_parameter(block: Option<u64>) -> Value {
    block.map_or_else(|| "latest".into(), hex_number)
}

fn block_info(header: Option<Header>) -> Value {
    json!(header.map(BlockInfo::from))
}

/// The event for the plugin; `None` when the log has another layout than the signature.
fn chain_event<'d>(
    chain: &'d str,
    decoder: &'d EventDecoder,
    log: &RawLog,
) -> Option<ChainEvent<EventArguments<'d>, &'d str>> {
    Some(ChainEvent {
        chain,
        contract: "",
        address: plugin_api::Address(log.address.into_array()),
        event: decoder.name(),
        args: decoder.decode(log)?,
        log: log.meta(),
    })
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}

fn host_error(error: ChainError) -> HostError {
    HostError::new(HostErrorCode::Unavailable, error.to_string())
}
