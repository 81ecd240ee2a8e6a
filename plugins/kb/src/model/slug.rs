//! Slugs: a page's name in its path.

use plugin_api::{
    extract::FromParam,
    handles::{Bind, Value},
};
use serde::Serialize;
use serde_json::json;
use std::fmt;

/// `^[a-z0-9-]{2,64}$`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Slug(String);

impl Slug {
    /// Trims the text and converts it to lower case; `None` when it is no slug then.
    pub fn parse(text: &str) -> Option<Self> {
        let slug = text.trim().to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        ((2..=64).contains(&slug.len()) && slug.bytes().all(is_plain)).then_some(Self(slug))
    }

    pub fn as_str(&self) -> &str {
        &self.0
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
