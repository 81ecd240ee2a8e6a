//! Events of contracts on a scripted chain.

use alloy::{
    dyn_abi::{DynSolType, DynSolValue, Specifier as _},
    json_abi::Event,
};
use alloy_primitives::{B256, keccak256};
use plugin_api::Address;
use serde_json::Value;

/// An event of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
    /// Hash of its transaction; unique by default.
    pub tx: B256,
}

impl ScriptedLog {
    /// An event of the contract with this key. `event` is its signature with names and `indexed`; the arguments are texts,
    /// numbers and booleans.
    pub fn new(contract: &str, event: &str, arguments: &[Value]) -> Self {
        let event = Event::parse(event).unwrap_or_else(|error| panic!("{event}: {error}"));
        assert_eq!(event.inputs.len(), arguments.len(), "arguments of {}", event.name);
        let (mut topics, mut body) = (vec![event.selector()], Vec::new());
        for (input, argument) in event.inputs.iter().zip(arguments) {
            let kind = input.resolve().unwrap_or_else(|error| panic!("{}: {error}", input.name));
            let value = value(&kind, argument);
            match (input.indexed, value.as_word()) {
                (false, _) => body.push(value),
                (true, Some(word)) => topics.push(word),
                (true, None) => topics.push(keccak256(value.abi_encode_packed())),
            }
        }
        let data = DynSolValue::Tuple(body).abi_encode_params();
        Self { address: address_of(contract), topics, data, tx: B256::ZERO }
    }

    /// Events with the same `name` belong to one transaction.
    pub fn in_transaction(mut self, name: &str) -> Self {
        self.tx = keccak256(name);
        self
    }
}

pub fn value(kind: &DynSolType, argument: &Value) -> DynSolValue {
    let text = argument.as_str().map_or_else(|| argument.to_string(), str::to_owned);
    match kind {
        // Member by member: a text of a struct needs no quotes.
        DynSolType::Tuple(kinds) if argument.is_array() => {
            let members = argument.as_array().into_iter().flatten();
            DynSolValue::Tuple(kinds.iter().zip(members).map(|(kind, member)| value(kind, member)).collect())
        }
        DynSolType::String => DynSolValue::String(text),
        kind => kind.coerce_str(&text).unwrap_or_else(|error| panic!("{argument} as {kind}: {error}")),
    }
}

pub fn address_of(contract: &str) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&keccak256(contract)[12..]);
    Address(bytes)
}
