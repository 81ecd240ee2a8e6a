//! Tools as owners describe them, and the response types. The members that change only with a write are stored as rendered JSON.

use super::ToolId;
use crate::error::ToolsError;
use plugin_api::{Author, JsonSchema, Wei, handles::Bind};
use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};
use serde_json::{Map, Number, Value as Json};

// The protocol that a tool speaks. (A doc comment would be part of the published schema.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    Mcp,
    Http,
    A2a,
    Compute,
}

impl ToolKind {
    pub fn parse(text: &str) -> Result<Self, ToolsError> {
        Self::deserialize(text.into_deserializer()).map_err(|_: value::Error| ToolsError::Kind)
    }
}

/// What a tool's owner says of it, checked. Whether its URLs are public is checked separately, by the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToolSpec {
    pub name: String,
    pub kind: ToolKind,
    pub url: String,
    /// Empty when there is none.
    pub description: String,
    /// What the tool takes, as its owner describes it.
    pub schema: Option<Map<String, Json>>,
    /// Of the kind `compute` only.
    pub compute: Option<ComputeSpec>,
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

/// The members of a tool that its row stores as rendered JSON.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolText {
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
}

/// The other members of a tool, decoded from its row.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolState<'r> {
    /// The rendered members, to which a response adds those below. Empty where they stand beside it as a [`ToolText`].
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub rendered: &'r str,
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
#[derive(Serialize, JsonSchema)]
pub struct ToolView {
    #[serde(flatten)]
    pub text: ToolText,
    #[serde(flatten)]
    pub state: ToolState<'static>,
}

/// The rendered members of a tool of the kind `compute`: those of `compute` are at the top, too.
#[derive(Serialize, JsonSchema)]
pub struct ComputeText<'a> {
    #[serde(flatten)]
    pub tool: &'a ToolText,
    #[serde(flatten)]
    pub spec: &'a ComputeSpec,
}

/// A tool of the kind `compute`, with the members of `compute` at the top.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct ComputeView {
    #[schemars(flatten)]
    text: ComputeText<'static>,
    #[schemars(flatten)]
    state: ToolState<'static>,
}
