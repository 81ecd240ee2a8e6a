//! Kinds of tools: the protocol that they speak.

use plugin_api::{Bind, JsonSchema, Value};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    Mcp,
    Http,
    A2a,
    Compute,
}

impl ToolKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::A2a => "a2a",
            Self::Compute => "compute",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Mcp, Self::Http, Self::A2a, Self::Compute].into_iter().find(|kind| kind.as_str() == text)
    }
}

impl Bind for ToolKind {
    fn into_value(self) -> Value {
        self.as_str().into_value()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_written_as_it_is_read() {
        for text in ["mcp", "http", "a2a", "compute"] {
            let kind = ToolKind::parse(text).unwrap();
            assert_eq!((kind.as_str(), serde_json::to_value(kind).unwrap()), (text, text.into()));
        }
        for other in ["", "MCP", "rest", "mcp "] {
            assert_eq!(ToolKind::parse(other), None);
        }
    }
}
