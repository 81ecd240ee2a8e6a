//! Ids of records: one newtype per kind of record, so that the compiler tells a post's id from a thread's.

use serde::{
    Deserializer,
    de::{Error, Unexpected, Visitor},
};
use std::fmt;

/// Defines the newtype of a record's id, for example `record_id!(/** A thread. */ ThreadId, "thread");`.
///
/// Read from a path, a row or JSON (a positive integer, in JSON also as a digit string), written as an integer. In a path,
/// any other text is a 404 `unknown <resource>`.
///
/// ```
/// plugin_api::record_id!(
///     /// A note, by its id.
///     NoteId,
///     "note"
/// );
///
/// assert_eq!(serde_json::from_str::<NoteId>("7").ok(), Some(NoteId(7)));
/// assert!(serde_json::from_str::<NoteId>("-7").is_err());
/// ```
#[macro_export]
macro_rules! record_id {
    // The newtypes of several records.
    ($($(#[$doc:meta])* $name:ident, $resource:literal;)+) => {
        $($crate::record_id!($(#[$doc])* $name, $resource);)+
    };
    ($(#[$doc:meta])* $name:ident, $resource:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub i64);

        impl ::std::fmt::Display for $name {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, out)
            }
        }

        impl $crate::extract::FromParam for $name {
            const RESOURCE: &'static str = $resource;

            fn from_param(text: &str) -> Option<Self> {
                text.parse().ok().filter(|id| *id > 0).map(Self)
            }

            fn schema() -> $crate::__private::Value {
                <i64 as $crate::extract::FromParam>::schema()
            }
        }

        impl $crate::handles::Bind for $name {
            fn into_value(self) -> $crate::abi::Value {
                $crate::abi::Value::Int(self.0)
            }
        }

        impl $crate::__private::serde::Serialize for $name {
            fn serialize<S: $crate::__private::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_i64(self.0)
            }
        }

        impl<'de> $crate::__private::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::__private::read_id(from).map(Self)
            }
        }

        impl $crate::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut $crate::__private::schemars::SchemaGenerator) -> $crate::__private::schemars::Schema {
                $crate::__private::schemars::json_schema!({ "type": "integer", "minimum": 1 })
            }
        }
    };
}

/// A positive integer, or its digits.
pub fn read_id<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    from.deserialize_any(PositiveInteger)
}

struct PositiveInteger;

impl Visitor<'_> for PositiveInteger {
    type Value = i64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an id: a positive integer")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        if value > 0 { Ok(value) } else { Err(E::invalid_value(Unexpected::Signed(value), &self)) }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        let invalid = |_: std::num::TryFromIntError| E::invalid_value(Unexpected::Unsigned(value), &self);
        i64::try_from(value).map_err(invalid).and_then(|value| self.visit_i64(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i64, E> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = if digits { text.parse().unwrap_or(0) } else { 0 };
        if value > 0 { Ok(value) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use crate::extract::FromParam as _;

    record_id!(
        /// For the tests.
        ThingId,
        "thing"
    );

    #[test]
    fn ids_are_positive_integers_or_their_digits() {
        for (text, id) in [("7", 7), ("\"7\"", 7), ("\"007\"", 7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(serde_json::from_str::<ThingId>(text).unwrap(), ThingId(id), "{text}");
        }
        assert_eq!(serde_json::to_string(&ThingId(7)).unwrap(), "7");
    }

    #[test]
    fn other_values_are_refused() {
        for text in ["0", "-1", "1.5", "\"\"", "\"-1\"", "\"1.5\"", "\"0x1\"", "null", "[]", "9223372036854775808"] {
            assert!(serde_json::from_str::<ThingId>(text).is_err(), "{text}");
        }
        assert_eq!(ThingId::from_param("12"), Some(ThingId(12)));
        for text in ["", "0", "-1", "abc", "1.0", "99999999999999999999"] {
            assert_eq!(ThingId::from_param(text), None, "{text}");
        }
    }
}
