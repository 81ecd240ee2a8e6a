//! The JSON in which a plugin calls the host.

use crate::abi::{HostError, HostErrorCode};
use serde::Deserialize;

/// Reads what a plugin has sent. The error names it by `what`: "not the name of a job: …".
pub fn decode_call<'de, T: Deserialize<'de>>(what: &str, json: &'de [u8]) -> Result<T, HostError> {
    serde_json::from_slice(json).map_err(|error| HostError::new(HostErrorCode::Invalid, format!("not {what}: {error}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_of_the_call_is_invalid_and_named() {
        assert_eq!(decode_call::<(u8, &str)>("a pair", br#"[7,"a"]"#).unwrap(), (7, "a"));
        for json in [&b""[..], b"{}", b"[7]", b"[7,\"a\"]x", b"[7,\"\xff\"]"] {
            let error = decode_call::<(u8, &str)>("a pair", json).unwrap_err();
            assert!(error.is(HostErrorCode::Invalid) && error.message.starts_with("not a pair: "), "{error}");
        }
    }
}
