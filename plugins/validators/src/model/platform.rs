//! The platform of a validator's node.

use plugin_api::{JsonSchema, handles::Bind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Windows,
    Linux,
    Both,
}

impl Platform {
    /// Ignores case.
    pub fn parse(text: &str) -> Option<Self> {
        let is_called = |platform: &Self| text.trim().eq_ignore_ascii_case(platform.name());
        [Self::Windows, Self::Linux, Self::Both].into_iter().find(is_called)
    }
}
