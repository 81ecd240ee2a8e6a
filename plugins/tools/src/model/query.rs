//! Query parameters of the lists.

use plugin_api::{JsonSchema, format};
use serde::{Deserialize, Deserializer};

/// Parses a parameter; `None` when it is blank.
pub fn parse_given<T, E>(text: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, E> {
    format::given(text).map(parse).transpose()
}

/// Whether to list only what is online: `1` and `true` do, anything else lists all.
#[derive(Default, JsonSchema)]
#[schemars(transparent)]
pub struct OnlineOnly(#[schemars(with = "String")] pub bool);

impl<'de> Deserialize<'de> for OnlineOnly {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(matches!(String::deserialize(deserializer)?.as_str(), "1" | "true")))
    }
}
