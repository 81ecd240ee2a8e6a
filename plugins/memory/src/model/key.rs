//! Keys: names of values, private to their owner.

use crate::{error::MemoryError, limits::KEY_CHARS_MAX};
use plugin_api::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Their paths are those of other routes, so they could be written and not read.
const RESERVED: [&str; 2] = ["anchors", "proof"];

/// A key: `^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`, so that it stands in JSON as it is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline)]
pub struct MemoryKey(String);

impl MemoryKey {
    pub fn parse(text: &str) -> Result<Self, MemoryError> {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let starts_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_key = starts_well && text.len() <= KEY_CHARS_MAX && text.bytes().all(is_inner);
        if is_key { Ok(Self(text.to_owned())) } else { Err(MemoryError::Key) }
    }

    /// A key that may be written.
    pub fn parse_new(text: &str) -> Result<Self, MemoryError> {
        let key = Self::parse(text)?;
        if RESERVED.contains(&text) { Err(MemoryError::ReservedKey) } else { Ok(key) }
    }
}

impl TryFrom<String> for MemoryKey {
    type Error = MemoryError;

    fn try_from(text: String) -> Result<Self, MemoryError> {
        Self::parse(&text)
    }
}

impl fmt::Display for MemoryKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Never in a log.
impl fmt::Debug for MemoryKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MemoryKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_by_their_pattern() {
        for text in ["a", "0", "A.b_c", "plan:2026-01", &"x".repeat(128)] {
            assert_eq!(MemoryKey::parse(text).map(|key| key.to_string()), Ok(text.to_owned()));
        }
        for text in ["", ".a", "-a", ":a", "_a", "a b", "a/b", "ä", "a\n", "a\0", "a\"", &"x".repeat(129)] {
            assert_eq!(MemoryKey::parse(text), Err(MemoryError::Key), "{text:?}");
        }
        for text in RESERVED {
            assert_eq!(MemoryKey::parse_new(text), Err(MemoryError::ReservedKey));
            assert!(MemoryKey::parse(text).is_ok());
        }
        assert!(MemoryKey::parse_new("anchor").is_ok());
    }

    #[test]
    fn no_debug_text_names_a_key() {
        assert_eq!(MemoryKey::parse("diary").map(|key| format!("{key:?}")).as_deref(), Ok("MemoryKey(…)"));
    }
}
