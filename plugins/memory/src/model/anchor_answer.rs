//! What is answered to `memory.anchor`.

use super::{BatchView, Onchain, OwnRecordView, VerifyTexts};
use plugin_api::JsonSchema;
use serde::Serialize;

/// A batch to be anchored by its owner.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnchorAnswer {
    #[serde(flatten)]
    pub batch: BatchView,
    /// Whether this request built it.
    pub rebuilt: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    pub records: Vec<OwnRecordView>,
    pub onchain: Onchain,
    pub verify: VerifyTexts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proves: Option<&'static str>,
}

/// A batch whose transaction was recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordedAnswer {
    #[serde(flatten)]
    pub batch: BatchView,
    /// Always true.
    pub recorded: bool,
    pub note: &'static str,
}
