//! Slugs: a page's name in its path.

use plugin_api::{Bind, FromParam, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;

/// `^[a-z0-9-]{2,64}$`
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Slug(String);

/// The text is not a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a slug has 2 to 64 of the characters a-z, 0-9 and -")]
pub struct SlugParseError;

impl Slug {
    /// Trims the text and converts it to lower case.
    pub fn parse(text: &str) -> Result<Self, SlugParseError> {
        let slug = text.trim().to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (2..=64).contains(&slug.len()) && slug.bytes().all(is_plain) { Ok(Self(slug)) } else { Err(SlugParseError) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Slug {
    type Error = SlugParseError;

    fn try_from(text: String) -> Result<Self, SlugParseError> {
        Self::parse(&text)
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Bind for &Slug {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}

/// A path parameter that should be a slug. A malformed one is 400 `bad_slug` and not 404, so parsing accepts it here.
pub struct SlugText(pub String);

impl FromParam for SlugText {
    const RESOURCE: &'static str = "page";

    fn from_param(text: &str) -> Option<Self> {
        Some(Self(text.to_owned()))
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "pattern": "^[a-z0-9-]{2,64}$" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_trimmed_and_lowered() {
        for (text, slug) in [("ab", "ab"), (" How-To-Hire\n", "how-to-hire"), ("--", "--"), ("7z", "7z")] {
            assert_eq!(Slug::parse(text).unwrap().as_str(), slug);
        }
        assert!(Slug::parse(&"a".repeat(64)).is_ok());
    }

    #[test]
    fn other_texts_are_no_slugs() {
        let long = "a".repeat(65);
        for text in ["", "a", " a ", "a_b", "a b", "ä-b", "ſs", "a/b", "a.b", "a\0b", long.as_str()] {
            assert_eq!(Slug::parse(text), Err(SlugParseError), "{text:?}");
        }
    }
}
