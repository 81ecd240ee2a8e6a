//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{PageText, Slug};
use plugin_api::Event;
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[event("kb.write", subject = "kb", id = slug)]
pub struct PageWritten<'a> {
    pub slug: &'a Slug,
    pub title: &'a str,
    pub rev: i64,
    /// Whether this is the page's first revision.
    pub created: bool,
    pub summary: &'a str,
}

impl<'a> PageWritten<'a> {
    /// `text` is the page after the write.
    pub fn of(text: &'a PageText) -> Self {
        let PageText { slug, title, summary, rev, .. } = text;
        Self { slug, title, rev: *rev, created: *rev == 1, summary }
    }
}
