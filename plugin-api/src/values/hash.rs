//! A keccak-256 or sha-256 hash.

use abi_stable::StableAbi;
use alloy_primitives::hex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, str::FromStr};

const EXPECTED: &str = "a hash is 0x and 64 lower-case hex digits";

/// 32 bytes; written and read as `^0x[0-9a-f]{64}$`.
///
/// ```
/// use plugin_api::Hash256;
///
/// let hash = Hash256::keccak(b"");
/// assert_eq!(hash.to_string(), "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash256(pub [u8; 32]);

impl Hash256 {
    /// keccak-256, the chain's hash.
    pub fn keccak(bytes: &[u8]) -> Self {
        Self(alloy_primitives::keccak256(bytes).0)
    }
}

impl fmt::Display for Hash256 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(hex::Buffer::<32, true>::new().format(&self.0))
    }
}

impl FromStr for Hash256 {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64).ok_or(EXPECTED)?;
        if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(EXPECTED);
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_: hex::FromHexError| EXPECTED)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Hash256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = hex::Buffer::<32, true>::new();
        serializer.serialize_str(text.format(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hash256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Hash256;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Hash256, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for Hash256 {
    fn schema_name() -> Cow<'static, str> {
        "Hash256".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-f]{64}$" })
    }
}
