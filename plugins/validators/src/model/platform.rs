//! The platform of a validator's node.

use plugin_api::{
    JsonSchema,
    handles::{Bind, Value},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    Windows,
    Linux,
    Both,
}

impl Platform {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Windows => "windows",
            Self::Linux => "linux",
            Self::Both => "both",
        }
    }

    /// Ignores case.
    pub fn parse(text: &str) -> Option<Self> {
        let is_called = |platform: &Self| text.trim().eq_ignore_ascii_case(platform.as_str());
        [Self::Windows, Self::Linux, Self::Both].into_iter().find(is_called)
    }
}

impl Bind for Platform {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}
