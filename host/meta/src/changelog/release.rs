//! Releases and their changes.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Release {
    /// `unreleased` for what is not released yet.
    pub version: String,
    /// `YYYY-MM-DD`.
    pub date: Option<String>,
    pub unreleased: bool,
    pub changes: Vec<Change>,
    /// Number of changes by type.
    pub counts: BTreeMap<ChangeType, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    #[serde(rename = "type")]
    pub kind: ChangeType,
    /// Markdown.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    Added,
    Changed,
    Deprecated,
    Removed,
    Fixed,
    Security,
}
