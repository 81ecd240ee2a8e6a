//! Response types. A `…Text` holds the members that change only with a write: the row stores them as rendered JSON.

use super::{ToolId, ToolKind};
use plugin_api::{JsonSchema, Wei, point::Author};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// What a tool's owner says of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolText {
    pub name: String,
    pub kind: ToolKind,
    pub url: String,
    /// Empty when there is none.
    pub description: String,
    /// What the tool takes, as its owner describes it.
    pub schema: Option<Map<String, Value>>,
    /// Of the kind `compute` only.
    pub compute: Option<ComputeSpec>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// What is for rent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComputeSpec {
    pub gpu: String,
    /// Gigabytes of memory.
    pub vram_gb: Number,
    /// Wei, paid by x402 at the endpoint.
    pub price_per_second: Wei,
    /// Empty when there is none.
    pub region: String,
    pub endpoint: String,
}

/// What is true of a tool when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolState {
    pub id: ToolId,
    pub owner: Author,
    /// Whether the last probe was answered.
    pub online: bool,
    /// Unix seconds of the last probe that was answered.
    pub last_seen: Option<i64>,
    /// Unix seconds.
    pub last_probe_at: Option<i64>,
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToolView {
    #[serde(flatten)]
    pub text: ToolText,
    #[serde(flatten)]
    pub state: ToolState,
}

/// A tool of the kind `compute`, with the members of `compute` at the top.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComputeText {
    #[serde(flatten)]
    pub tool: ToolText,
    #[serde(flatten)]
    pub spec: ComputeSpec,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct ComputeView {
    #[schemars(flatten)]
    text: ComputeText,
    #[schemars(flatten)]
    state: ToolState,
}
