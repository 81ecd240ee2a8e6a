//! Types and rules of payloads, without a database: hash, size, served content type, client.

mod client;
mod content_type;

pub use client::client_of;
pub use content_type::{ContentType, served_as};

use plugin_api::{FromParam, Hash256, JsonSchema, format};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

/// Maximum size of a payload in bytes.
pub const SIZE_MAX: i64 = 262_144;

/// Seconds of a day.
pub const DAY_S: i64 = 24 * 60 * 60;

/// The keccak-256 of a payload's bytes. In a path, only lower case is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadHash(pub Hash256);

impl fmt::Display for PayloadHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromParam for PayloadHash {
    const RESOURCE: &'static str = "payload";

    fn from_param(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^0x[0-9a-f]{64}$" })
    }
}

/// Where stored bytes are from now on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StoredPayload {
    /// keccak-256 of the bytes.
    pub hash: Hash256,
    /// `fmx://payload/<hash>`, for job inputs and outputs.
    pub uri: String,
    /// Bytes.
    pub size: usize,
}

impl StoredPayload {
    pub fn new(hash: Hash256, size: usize) -> Self {
        Self { hash, uri: format::payload_uri(hash), size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_payload_in_lower_case() {
        let digits = "ab".repeat(32);
        assert_eq!(PayloadHash::from_param(&format!("0x{digits}")), Some(PayloadHash(Hash256([0xab; 32]))));
        for other in [digits.clone(), format!("0x{}", digits.to_uppercase()), format!("0x{digits}0"), "x".to_owned()] {
            assert_eq!(PayloadHash::from_param(&other), None, "{other}");
        }
    }
}
