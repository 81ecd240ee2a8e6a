//! Response types. A `…Text` holds the members that change only with a write: the row stores them as rendered JSON. The rest is
//! added at read time.

use super::{RevisionId, Slug};
use plugin_api::{JsonSchema, point::Author};
use serde::Serialize;
use std::borrow::Cow;

/// A page in a list: what its row keeps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Editors {
    pub created_by: Author,
    /// Who wrote the current revision.
    pub updated_by: Author,
}

/// How a search found a page.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    #[serde(flatten)]
    pub editors: Editors,
    /// A part of the body, hits in `[brackets]`. In a search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Lower is better. In a search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
}

/// What a page's row does not keep.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageRest<'a> {
    #[serde(flatten)]
    pub editors: Editors,
    /// Markdown, as it was sent.
    pub body: Cow<'a, str>,
}

/// A page with its current body.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "KbPage")]
pub struct PageView {
    #[serde(flatten)]
    pub text: PageText,
    #[serde(flatten)]
    pub rest: PageRest<'static>,
}

/// A revision: what its row keeps.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevisionText {
    #[schemars(with = "String")]
    pub slug: Slug,
    pub title: String,
    pub summary: String,
    pub rev: i64,
    /// Unix seconds.
    pub created_at: i64,
    /// Size of the body.
    pub bytes: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RevisionRest<'a> {
    pub id: RevisionId,
    pub author: Author,
    /// Markdown, as it was sent. Only when one revision is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Cow<'a, str>>,
}

#[derive(JsonSchema)]
#[schemars(rename = "KbRevision")]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
pub struct RevisionView {
    #[schemars(flatten)]
    text: RevisionText,
    #[schemars(flatten)]
    rest: RevisionRest<'static>,
}

/// The page as it is now, beside its revisions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistoryRest<'a> {
    pub slug: &'a str,
    pub title: &'a str,
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
        page: HistoryRest<'static>,
    },
    One(RevisionView),
}
