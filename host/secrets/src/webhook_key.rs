//! Keys for HMAC that plugins store sealed, in the form of Standard Webhooks: `whsec_` and the key in base64, or any other text.

use super::master_key::fill_random;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_api::abi::{HostError, HostErrorCode};
use std::ops::RangeInclusive;
use zeroize::Zeroizing;

const PREFIX: &str = "whsec_";
/// Bytes of a key that is written in base64, as Standard Webhooks says.
const KEY_BYTES: RangeInclusive<usize> = 24..=64;
/// Of a key's text.
const TEXT_CHARS: RangeInclusive<usize> = 16..=128;

/// The text of a new key of this many random bytes.
pub(crate) fn generate(bytes: u32) -> Result<Zeroizing<String>, HostError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if !KEY_BYTES.contains(&bytes) {
        return Err(invalid(format!("a key has {} to {} bytes", KEY_BYTES.start(), KEY_BYTES.end())));
    }
    let mut key = Zeroizing::new(vec![0; bytes]);
    fill_random(&mut key).map_err(|reason| HostError::new(HostErrorCode::Internal, reason))?;
    let encoded = Zeroizing::new(STANDARD.encode(&*key));
    Ok(Zeroizing::new([PREFIX, &encoded].concat()))
}

/// Checks a text that somebody chose, before it is sealed.
pub(crate) fn check(text: &[u8]) -> Result<(), HostError> {
    let chars = std::str::from_utf8(text).ok().map(|text| text.chars().count());
    if !chars.is_some_and(|chars| TEXT_CHARS.contains(&chars)) {
        let (least, most) = (TEXT_CHARS.start(), TEXT_CHARS.end());
        return Err(invalid(format!("a key is a text of {least} to {most} characters")));
    }
    decode(text).map(drop)
}

/// The key that the text stands for: the bytes after `whsec_`, otherwise the text itself.
pub(crate) fn decode(text: &[u8]) -> Result<Zeroizing<Vec<u8>>, HostError> {
    let Some(encoded) = text.strip_prefix(PREFIX.as_bytes()) else { return Ok(Zeroizing::new(text.to_vec())) };
    let key = STANDARD.decode(encoded).ok().map(Zeroizing::new).filter(|key| KEY_BYTES.contains(&key.len()));
    let (least, most) = (KEY_BYTES.start(), KEY_BYTES.end());
    key.ok_or_else(|| invalid(format!("after `{PREFIX}` a key is {least} to {most} bytes in base64")))
}

fn invalid(reason: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, reason)
}
