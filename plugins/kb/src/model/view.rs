//! Response types. A `…Text` holds the members that change only with a write: the row stores them as rendered JSON (`kept`). A
//! `…Row` is a row with the members that are added to it in a response.

use super::{RevisionId, Slug};
use plugin_api::{Author, JsonSchema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A page in a list: what its row keeps.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    #[schemars(with = "String")]
    pub slug: Slug,
    pub title: String,
    /// Empty when there is none.
    pub summary: String,
    /// The current revision; the first is 1.
    pub rev: i64,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds of the current revision.
    pub updated_at: i64,
    /// Size of the body.
    pub bytes: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRow<'r> {
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub kept: &'r str,
    pub created_by: Author,
    /// Who wrote the current revision.
    pub updated_by: Author,
    /// A part of the body, hits in `[brackets]`. In a search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Lower is better. In a search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
}

#[derive(JsonSchema)]
#[schemars(rename = "KbPageSummary")]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct PageSummary {
    #[schemars(flatten)]
    text: PageText,
    #[schemars(flatten)]
    row: SummaryRow<'static>,
}

/// What a page's row does not keep.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageRest<'a> {
    pub created_by: Author,
    /// Who wrote the current revision.
    pub updated_by: Author,
    /// Markdown, as it was sent.
    pub body: Cow<'a, str>,
}

/// A page with its current body.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KbPage")]
pub struct PageView {
    #[serde(flatten)]
    pub text: PageText,
    #[serde(flatten)]
    pub rest: PageRest<'static>,
}

/// A revision: what its row keeps.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevisionText<'a> {
    #[schemars(with = "String")]
    pub slug: &'a Slug,
    pub title: &'a str,
    pub summary: &'a str,
    pub rev: i64,
    /// Unix seconds.
    pub created_at: i64,
    /// Size of the body.
    pub bytes: i64,
}

impl<'a> RevisionText<'a> {
    /// The current revision of a page.
    pub fn of(PageText { slug, title, summary, rev, updated_at, bytes, .. }: &'a PageText) -> Self {
        Self { slug, title, summary, rev: *rev, created_at: *updated_at, bytes: *bytes }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RevisionRow<'r> {
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub kept: &'r str,
    pub id: RevisionId,
    pub author: Author,
    /// Markdown, as it was sent. Only when one revision is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<&'r str>,
}

#[derive(JsonSchema)]
#[schemars(rename = "KbRevision")]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct RevisionView {
    #[schemars(flatten)]
    text: RevisionText<'static>,
    #[schemars(flatten)]
    row: RevisionRow<'static>,
}

/// The page as it is now, beside its revisions.
#[derive(Serialize, JsonSchema)]
pub struct HistoryRest {
    pub slug: String,
    pub title: String,
    /// The current revision.
    pub rev: i64,
}

/// All revisions, or the one that was asked for.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "KbHistory")]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub enum History {
    All {
        /// The newest first.
        items: Vec<RevisionView>,
        #[schemars(flatten)]
        page: HistoryRest,
    },
    One(RevisionView),
}
