//! Values: what a request stores, and what is answered about them.

use super::{MemoryKey, Pricing, Quota, RecordReceipt};
use crate::{error::MemoryError, limits::VALUE_BYTES_MAX};
use plugin_api::{Address, HostError, HostErrorCode, JsonSchema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::{RawValue, to_raw_value};

/// Payload of `memory.put`.
#[derive(Deserialize, JsonSchema)]
pub struct NewValue {
    /// Any JSON. A string is stored as it is, anything else as its canonical JSON text; at most 65,536 bytes.
    #[schemars(with = "serde_json::Value")]
    pub value: ValueText,
    /// Must be the key of the path: a signature without it is good for each of your keys.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    #[expect(dead_code, reason = "the gateway compares it with the path")]
    key: Option<serde::de::IgnoredAny>,
}

/// The text that is stored of a value.
pub struct ValueText(String);

impl<'de> Deserialize<'de> for ValueText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        // The parser's reason may quote the value.
        let unread = || D::Error::custom("value is no JSON");
        stored_text(&json).map(Self).ok_or_else(unread)
    }
}

impl ValueText {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn size(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    pub fn check_size(&self) -> Result<(), MemoryError> {
        let bytes = self.size();
        if bytes > VALUE_BYTES_MAX { Err(MemoryError::LargeValue { bytes }) } else { Ok(()) }
    }
}

fn stored_text(json: &RawValue) -> Option<String> {
    let text = json.get();
    if text.starts_with('"') { serde_json::from_str(text).ok() } else { Some(text.to_owned()) }
}

/// A stored text as JSON: itself where it is JSON, digit by digit, else as a string.
pub fn json_of(text: String) -> Result<Box<RawValue>, HostError> {
    let unwritable = |error: serde_json::Error| HostError::new(HostErrorCode::Internal, error.to_string());
    match RawValue::from_string(text.clone()) {
        Ok(json) => Ok(json),
        Err(_not_json) => to_raw_value(&text).map_err(unwritable),
    }
}

/// A value that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredValue {
    pub address: Address,
    pub key: MemoryKey,
    /// Bytes of the stored text.
    pub size: i64,
    /// Unix seconds, as all times here.
    pub created_at: i64,
    pub updated_at: i64,
    #[serde(flatten)]
    pub quota: Quota,
    /// What this write paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid: Option<PaidRoom>,
    pub record: RecordReceipt,
}

/// Room that was bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaidRoom {
    pub blocks: i64,
    pub bytes: i64,
}

/// A value that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedValue {
    pub address: Address,
    pub key: MemoryKey,
    /// Always true.
    pub deleted: bool,
    /// Always true.
    pub ok: bool,
    #[serde(flatten)]
    pub quota: Quota,
    pub record: RecordReceipt,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueView {
    pub address: Address,
    pub key: MemoryKey,
    /// The stored text as JSON where it is JSON, else as a string.
    #[schemars(with = "serde_json::Value")]
    pub value: Box<RawValue>,
    pub size: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

/// A value in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueItem {
    pub key: MemoryKey,
    pub size: i64,
    /// The size.
    pub bytes: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ValueList {
    pub address: Address,
    /// In the order of the keys.
    pub items: Vec<ValueItem>,
    #[serde(flatten)]
    pub quota: Quota,
    pub pricing: Pricing,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_stored_as_it_is_and_anything_else_as_its_text() {
        for (json, stored, answered) in [
            ("\"hello\"", "hello", "\"hello\""),
            ("\"\"", "", "\"\""),
            ("\"a\\u0000b\\n\"", "a\0b\n", "\"a\\u0000b\\n\""),
            ("\"123\"", "123", "123"),
            ("\"{\\\"a\\\": 1}\"", "{\"a\": 1}", "{\"a\": 1}"),
            ("12345678901234567890123", "12345678901234567890123", "12345678901234567890123"),
            ("{\"a\":[1,null]}", "{\"a\":[1,null]}", "{\"a\":[1,null]}"),
            ("null", "null", "null"),
        ] {
            let text = stored_text(&serde_json::from_str::<Box<RawValue>>(json).unwrap()).unwrap();
            assert_eq!(text, stored);
            assert_eq!(json_of(text).unwrap().get(), answered);
        }
    }
}
