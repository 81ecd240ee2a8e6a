//! Request payloads, and their checked forms.

use crate::{
    error::KbError,
    limits::{PAGE_BYTES_MAX, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX},
};
use plugin_api::{JsonSchema, format};
use serde::Deserialize;

/// Payload of `kb.write`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewRevision {
    /// 1 to 200 characters (UTF-16 units) after trimming.
    title: String,
    /// Markdown, not blank; with the title at most 65,536 bytes.
    body: String,
    /// At most 300 characters after trimming.
    #[serde(default)]
    summary: Option<String>,
}

/// A checked revision.
pub struct RevisionDraft {
    pub title: String,
    pub summary: String,
    /// As sent.
    pub body: String,
}

impl NewRevision {
    pub fn check(self) -> Result<RevisionDraft, KbError> {
        let title = format::trimmed(&self.title, 1..=TITLE_CHARS_MAX).ok_or(KbError::Title)?;
        let summary = self.summary.unwrap_or_default();
        let summary = format::trimmed(&summary, 0..=SUMMARY_CHARS_MAX).ok_or(KbError::Summary)?;
        if self.body.trim().is_empty() {
            return Err(KbError::BlankBody);
        }
        let bytes = title.len() + self.body.len();
        if bytes > PAGE_BYTES_MAX {
            return Err(KbError::TooLarge { bytes });
        }
        Ok(RevisionDraft { title, summary, body: self.body })
    }
}
