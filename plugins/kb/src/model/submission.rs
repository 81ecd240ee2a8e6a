//! Request payloads, and their checked forms.

use crate::error::KbError;
use plugin_api::{JsonSchema, format};
use serde::Deserialize;

pub const TITLE_CHARS_MAX: usize = 200;
pub const SUMMARY_CHARS_MAX: usize = 300;
/// Limit of title and body together.
pub const PAGE_BYTES_MAX: usize = 65_536;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionDraft {
    pub title: String,
    pub summary: String,
    /// As sent.
    pub body: String,
}

impl NewRevision {
    pub fn check(self) -> Result<RevisionDraft, KbError> {
        let title = self.title.trim();
        if !(1..=TITLE_CHARS_MAX).contains(&format::utf16_len(title)) {
            return Err(KbError::Title);
        }
        let summary = self.summary.as_deref().unwrap_or_default().trim();
        if format::utf16_len(summary) > SUMMARY_CHARS_MAX {
            return Err(KbError::Summary);
        }
        if self.body.trim().is_empty() {
            return Err(KbError::BlankBody);
        }
        let bytes = title.len() + self.body.len();
        if bytes > PAGE_BYTES_MAX {
            return Err(KbError::TooLarge { bytes });
        }
        Ok(RevisionDraft { title: title.to_owned(), summary: summary.to_owned(), body: self.body })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(payload: Value) -> Result<RevisionDraft, KbError> {
        serde_json::from_value::<NewRevision>(payload).unwrap().check()
    }

    #[test]
    fn title_and_summary_are_trimmed_and_the_body_is_not() {
        let draft = check(json!({ "title": " T\n", "body": " b ", "summary": " s " })).unwrap();
        assert_eq!((draft.title.as_str(), draft.summary.as_str(), draft.body.as_str()), ("T", "s", " b "));
        for payload in [json!({ "title": "t", "body": "b" }), json!({ "title": "t", "body": "b", "summary": null })] {
            assert_eq!(check(payload).unwrap().summary, "");
        }
    }

    #[test]
    fn characters_are_utf16_units() {
        let of = |title: &str, summary: &str| check(json!({ "title": title, "body": "b", "summary": summary }));
        // Each of these is two UTF-16 units.
        assert!(of(&"😀".repeat(100), &"😀".repeat(150)).is_ok());
        assert_eq!(of(&format!("{}x", "😀".repeat(100)), ""), Err(KbError::Title));
        assert_eq!(of("t", &format!("{}x", "😀".repeat(150))), Err(KbError::Summary));
        for blank in ["", " \n", "\u{3000}"] {
            assert_eq!(of(blank, ""), Err(KbError::Title));
        }
    }

    #[test]
    fn title_and_body_share_their_limit_in_bytes() {
        let of = |bytes: usize| check(json!({ "title": "é", "body": "x".repeat(bytes) }));
        assert!(of(PAGE_BYTES_MAX - 2).is_ok());
        assert_eq!(of(PAGE_BYTES_MAX - 1), Err(KbError::TooLarge { bytes: PAGE_BYTES_MAX + 1 }));
        assert_eq!(check(json!({ "title": "t", "body": " \n" })), Err(KbError::BlankBody));
    }
}
