//! Canonical JSON (RFC 8785), the text that is hashed and signed.

use plugin_api::{HostError, HostErrorCode, format::canonical_json};
use serde::Serialize;

pub fn canonical(value: &impl Serialize) -> Result<String, HostError> {
    let value = serde_json::to_value(value)
        .map_err(|error| HostError::new(HostErrorCode::Internal, format!("a footer is no JSON: {error}")))?;
    canonical_json(&value)
}
