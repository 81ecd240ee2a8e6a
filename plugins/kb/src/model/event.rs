//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{PageText, Slug};
use plugin_api::{Address, EventBuilder, HostError};
use serde::Serialize;

/// Data of `kb.write`.
#[derive(Debug, Serialize)]
pub struct PageWritten<'a> {
    pub slug: &'a Slug,
    pub title: &'a str,
    pub rev: i64,
    /// Whether this is the page's first revision.
    pub created: bool,
    pub summary: &'a str,
}

impl<'a> PageWritten<'a> {
    pub const TYPE: &'static str = "kb.write";

    /// `text` is the page after the write.
    pub fn of(text: &'a PageText) -> Self {
        let PageText { slug, title, summary, rev, .. } = text;
        Self { slug, title, rev: *rev, created: *rev == 1, summary }
    }

    pub fn by(&self, author: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        Ok(EventBuilder::new(Self::TYPE, self).actor(author).subject("kb", self.slug).at(now_s))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_members_match_the_wire_format() {
        for (rev, created) in [(1, true), (2, false)] {
            let text = PageText {
                slug: Slug::parse("page").unwrap(),
                title: "T".to_owned(),
                summary: "S".to_owned(),
                rev,
                created_at: 1,
                updated_at: 2,
                bytes: 3,
            };
            let expected = json!({ "slug": "page", "title": "T", "rev": rev, "created": created, "summary": "S" });
            assert_eq!(serde_json::to_value(PageWritten::of(&text)).unwrap(), expected);
        }
    }
}
