//! Canonical JSON (RFC 8785), the text that is hashed and signed.

use plugin_api::{HostError, HostErrorCode};
use serde::Serialize;

pub fn canonical(value: &impl Serialize) -> Result<String, HostError> {
    serde_json_canonicalizer::to_string(value)
        .map_err(|error| HostError::new(HostErrorCode::Internal, format!("a line has no canonical form: {error}")))
}
