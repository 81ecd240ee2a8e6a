//! Values of contracts as JSON.
//!
//! The rule: integers up to 64 bits are numbers, larger ones decimal strings; bytes are `0x…`; arrays and tuples are
//! arrays. Texts are untrusted: NUL, which no database accepts, becomes U+FFFD.

use alloy::dyn_abi::{DecodedEvent, DynSolType, DynSolValue};
use alloy_primitives::hex;
use plugin_api::Address;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A parameter of an event as the signature declares it.
#[derive(Clone, Debug)]
pub(crate) struct EventParameter {
    /// The declared name, or the position where the signature gives none.
    pub name: String,
    pub is_indexed: bool,
}

/// The arguments of an event by name.
#[derive(Clone, Debug)]
pub struct EventArguments<'p> {
    pub(super) parameters: &'p [EventParameter],
    pub(super) values: DecodedEvent,
}

impl Serialize for EventArguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut indexed, mut body) = (self.values.indexed.iter(), self.values.body.iter());
        let mut value = |is_indexed: bool| if is_indexed { indexed.next() } else { body.next() };
        let values = self.parameters.iter().filter_map(|parameter| value(parameter.is_indexed)).map(AbiValue);
        serializer.collect_map(self.parameters.iter().map(|parameter| &parameter.name).zip(values))
    }
}

/// One value.
pub(crate) struct AbiValue<'v>(pub &'v DynSolValue);

impl Serialize for AbiValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            DynSolValue::Bool(value) => serializer.serialize_bool(*value),
            DynSolValue::Uint(value, bits) if *bits <= 64 => serializer.serialize_u64(value.to::<u64>()),
            DynSolValue::Uint(value, _) => match u128::try_from(*value) {
                Ok(value) => serializer.serialize_str(itoa::Buffer::new().format(value)),
                Err(_) => serializer.collect_str(value),
            },
            DynSolValue::Int(value, bits) => match i64::try_from(*value) {
                Ok(small) if *bits <= 64 => serializer.serialize_i64(small),
                _ => serializer.collect_str(value),
            },
            // This type caches the checksums that it has computed.
            DynSolValue::Address(address) => Address(address.into_array()).serialize(serializer),
            DynSolValue::FixedBytes(word, size) => serializer.serialize_str(&hex::encode_prefixed(&word[..*size])),
            DynSolValue::Bytes(bytes) => serializer.serialize_str(&hex::encode_prefixed(bytes)),
            DynSolValue::String(text) if text.contains('\0') => {
                serializer.serialize_str(&text.replace('\0', "\u{fffd}"))
            }
            DynSolValue::String(text) => serializer.serialize_str(text),
            DynSolValue::Array(values)
            | DynSolValue::FixedArray(values)
            | DynSolValue::Tuple(values)
            | DynSolValue::CustomStruct { tuple: values, .. } => serializer.collect_seq(values.iter().map(AbiValue)),
            DynSolValue::Function(function) => serializer.serialize_str(&hex::encode_prefixed(function.as_slice())),
        }
    }
}

/// JSON as a value of the type: numbers and texts, lists for arrays and tuples.
pub(crate) fn argument_value(kind: &DynSolType, argument: &Value) -> Result<DynSolValue, String> {
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
