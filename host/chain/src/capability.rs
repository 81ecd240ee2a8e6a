//! What plugins may ask of a chain.
//!
//! The rule: the question says which chain, and the plugin's grants say whether; an answer about the state of the chain
//! names one block, so that several calls see the same state.

use super::{
    Chain, ChainError, Chains, Header,
    argument::Argument,
    error::RpcFailure,
    event::{Decoder, to_event},
    log::{Filter, RangeError},
    receipt::{RawReceipt, receipt_of},
    rpc::{Call, missing},
    source::{Source, block_by_number, hex_number},
};
use alloy::{
    dyn_abi::{DynSolType, DynSolValue, FunctionExt as _, JsonAbiExt as _, Specifier as _},
    json_abi::Function,
};
use alloy_primitives::{Address, Bytes, U256};
use plugin_api::{
    Hash256,
    abi::{HostError, HostErrorCode},
    manifest::{BlockInfo, CallAnswer, CallQuestion, ChainAsk, ChainQuestion},
};
use serde_json::{Value, json};

/// Calls of one question.
const CALLS_MAX: usize = 500;
/// Blocks of one question for events; more are for a subscription.
const LOG_BLOCKS_MAX: u64 = 10_000;

impl Chains {
    /// Answers a plugin's question; `granted` are the chains it may read.
    pub async fn answer(&self, granted: &[String], question: &[u8]) -> Result<Value, HostError> {
        let question: ChainQuestion = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
        if !granted.contains(&question.chain) {
            let message = format!("the plugin does not declare the chain `{}` in its grants", question.chain);
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        let chain = self.get(&question.chain).ok_or_else(|| {
            let message = format!("no chain `{}` is configured", question.chain);
            HostError::new(HostErrorCode::Unavailable, message)
        })?;
        match question.agreed {
            true => chain.agreed_answer(question.ask).await,
            false => chain.answer(question.ask).await,
        }
    }
}

impl Chain {
    pub(super) async fn answer(&self, ask: ChainAsk) -> Result<Value, HostError> {
        match ask {
            ChainAsk::Head => Ok(block(Some(self.known_head()?))),
            ChainAsk::Finalized => self.block(self.final_number(self.known_head()?.number)).await,
            ChainAsk::Block { number } => self.block(number).await,
            ChainAsk::Call { calls, block } => self.calls(calls, block).await,
            ChainAsk::Logs { address, event, from, to } => self.logs(address.0.into(), &event, from, to).await,
            ChainAsk::Code { address } => {
                let call = Call::new("eth_getCode", json!([address, "latest"]));
                let code: Bytes = self.one(call).await?;
                Ok(code.to_string().into())
            }
            ChainAsk::Balance { address, block } => {
                let call = Call::new("eth_getBalance", json!([address, place(block)]));
                let balance: U256 = self.one(call).await?;
                Ok(balance.to_string().into())
            }
            ChainAsk::Receipt { tx } => {
                let found: Option<RawReceipt> = self.one(receipt_of(tx)).await?;
                Ok(json!(found.map(RawReceipt::into_info)))
            }
        }
    }

    pub(super) fn known_head(&self) -> Result<Header, HostError> {
        self.live_head().ok_or_else(|| host_error(self.unavailable()))
    }

    async fn block(&self, number: u64) -> Result<Value, HostError> {
        let found: Option<Header> = self.one(block_by_number(hex_number(number))).await?;
        Ok(block(found))
    }

    async fn one<T: serde::de::DeserializeOwned>(&self, call: Call) -> Result<T, HostError> {
        self.ask(|source| first(source, call.clone())).await.map_err(host_error)
    }

    async fn calls(&self, calls: Vec<CallQuestion>, block: Option<u64>) -> Result<Value, HostError> {
        if calls.len() > CALLS_MAX {
            return Err(invalid(format!("{} calls at a time, at most {CALLS_MAX} are answered", calls.len())));
        }
        let prepared = calls.iter().map(Prepared::new).collect::<Result<Vec<_>, _>>().map_err(invalid)?;
        // All in the state after one block, whichever server answers.
        let block = match block {
            Some(block) => block,
            None => self.known_head()?.number,
        };
        let questions: Vec<Call> = prepared.iter().map(|prepared| prepared.question(block)).collect();
        let answers = self.ask(|source| call_all(source, questions.clone())).await.map_err(host_error)?;
        let read = |(prepared, answer): (&Prepared, Result<Bytes, String>)| prepared.read(answer);
        let answers: Vec<CallAnswer> = prepared.iter().zip(answers).map(read).collect();
        serde_json::to_value(answers).map_err(|error| invalid(error.to_string()))
    }

    async fn logs(&self, address: Address, event: &str, from: u64, to: u64) -> Result<Value, HostError> {
        let decoder = Decoder::parse(event).map_err(invalid)?;
        if to < from || to - from >= LOG_BLOCKS_MAX {
            return Err(invalid(format!("from {from} to {to}: events are told of 1 to {LOG_BLOCKS_MAX} blocks")));
        }
        let filter = Filter { addresses: vec![address], events: vec![decoder.topic()] };
        let (mut found, mut todo) = (Vec::new(), vec![(from, to)]);
        while let Some((from, to)) = todo.pop() {
            match self.logs_between(from, to, &filter).await {
                Ok((logs, _)) => found.extend(logs),
                Err(RangeError::TooMuch(_)) => {
                    let middle = from + (to - from) / 2;
                    todo.extend([(middle + 1, to), (from, middle)]);
                }
                Err(RangeError::Chain(error)) => return Err(host_error(error)),
            }
        }
        let event = |log: &_| Some(to_event(&self.name, "", decoder.name(), decoder.arguments(log)?, log));
        let events: Vec<_> = found.iter().filter_map(event).collect();
        serde_json::to_value(events).map_err(|error| invalid(error.to_string()))
    }
}

/// A call whose signature was understood.
struct Prepared {
    to: Address,
    function: Function,
    input: Bytes,
}

impl Prepared {
    fn new(call: &CallQuestion) -> Result<Self, String> {
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
        Ok(Self { to: call.to.0.into(), function, input: input.into() })
    }

    fn question(&self, block: u64) -> Call {
        Call::new("eth_call", json!([{ "to": self.to, "data": self.input }, hex_number(block)]))
    }

    fn read(&self, answer: Result<Bytes, String>) -> CallAnswer {
        let output = match answer {
            Ok(output) if output.is_empty() && !self.function.outputs.is_empty() => {
                return CallAnswer::Reverted("there is no such contract".to_owned());
            }
            Ok(output) => output,
            Err(reason) => return CallAnswer::Reverted(reason),
        };
        match self.function.abi_decode_output(&output) {
            Ok(values) => CallAnswer::Value(match values.as_slice() {
                [value] => json!(Argument(value)),
                values => values.iter().map(|value| json!(Argument(value))).collect(),
            }),
            Err(error) => CallAnswer::Reverted(format!("the result is none of this function: {error}")),
        }
    }
}

/// JSON as a value of the type: numbers and texts, lists for arrays and tuples.
fn argument_value(kind: &DynSolType, argument: &Value) -> Result<DynSolValue, String> {
    let inner = |kinds: &mut dyn Iterator<Item = &DynSolType>, items: &[Value]| {
        kinds.zip(items).map(|(kind, item)| argument_value(kind, item)).collect::<Result<Vec<_>, String>>()
    };
    match (kind, argument) {
        (DynSolType::Tuple(kinds), Value::Array(items)) if kinds.len() == items.len() => {
            Ok(DynSolValue::Tuple(inner(&mut kinds.iter(), items)?))
        }
        (DynSolType::Array(kind), Value::Array(items)) => {
            Ok(DynSolValue::Array(inner(&mut std::iter::repeat(&**kind), items)?))
        }
        (DynSolType::FixedArray(kind, count), Value::Array(items)) if *count == items.len() => {
            Ok(DynSolValue::FixedArray(inner(&mut std::iter::repeat(&**kind), items)?))
        }
        (DynSolType::String, Value::String(text)) => Ok(DynSolValue::String(text.clone())),
        (kind, Value::String(text)) => kind.coerce_str(text).map_err(|error| error.to_string()),
        (kind, Value::Number(number)) => kind.coerce_str(&number.to_string()).map_err(|error| error.to_string()),
        (DynSolType::Bool, Value::Bool(truth)) => Ok(DynSolValue::Bool(*truth)),
        (kind, other) => Err(format!("{other} is no {kind}")),
    }
}

async fn first<T: serde::de::DeserializeOwned>(source: &Source, call: Call) -> Result<T, RpcFailure> {
    source.batch(vec![call]).await?.pop().unwrap_or_else(missing)
}

/// A call that reverts is an answer; a server that cannot answer one call answers none.
async fn call_all(source: &Source, calls: Vec<Call>) -> Result<Vec<Result<Bytes, String>>, RpcFailure> {
    let one = |answer: Result<Bytes, RpcFailure>| match answer {
        Ok(output) => Ok(Ok(output)),
        Err(failure) if failure.is_revert() => Ok(Err(failure.to_string())),
        Err(failure) => Err(failure),
    };
    source.batch(calls).await?.into_iter().map(one).collect()
}

/// The bytes of a call, from its signature and arguments.
pub fn encode_call(to: plugin_api::Address, function: &str, args: &[Value]) -> Result<Bytes, String> {
    let call = CallQuestion { to, function: function.to_owned(), args: args.to_vec() };
    Prepared::new(&call).map(|prepared| prepared.input)
}

fn place(block: Option<u64>) -> Value {
    block.map_or_else(|| "latest".into(), hex_number)
}

fn block(header: Option<Header>) -> Value {
    let info = header.map(|header| BlockInfo {
        number: header.number,
        hash: Hash256(header.hash.0),
        parent: Hash256(header.parent.0),
        time_s: i64::try_from(header.time_s).unwrap_or(i64::MAX),
    });
    json!(info)
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}

fn host_error(error: ChainError) -> HostError {
    HostError::new(HostErrorCode::Unavailable, error.to_string())
}
