//! Types and rules of payloads, without a database: hash, size, served content type, client.

mod content_type;

pub use content_type::{ContentType, served_as};

use plugin_api::{Hash256, JsonSchema, extract::FromParam};
use serde::Serialize;
use serde_json::{Value, json};

/// Maximum size of a payload in bytes.
pub const SIZE_MAX: i64 = 262_144;

/// Seconds of a day.
pub const DAY_S: i64 = 24 * 60 * 60;

/// The keccak-256 of a payload's bytes in a path: only lower case is accepted.
pub struct PayloadHash(pub Hash256);

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
#[derive(Serialize, JsonSchema)]
pub struct StoredPayload {
    /// keccak-256 of the bytes.
    pub hash: Hash256,
    /// `fmx://payload/<hash>`, for job inputs and outputs.
    pub uri: String,
    /// Bytes.
    pub size: usize,
}
