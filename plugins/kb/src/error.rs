//! Errors of the knowledge base's routes: texts, statuses and codes.

use crate::model::{PAGE_BYTES_MAX, SUMMARY_CHARS_MAX, Slug, TITLE_CHARS_MAX};
use plugin_api::{ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/kb lists the pages, GET /api/kb/{slug}/history a page's revisions");

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum KbError {
    #[error("a slug has 2 to 64 of the characters a-z, 0-9 and -")]
    #[api(400, "bad_slug", hint = "name the page with 2 to 64 of the characters a-z, 0-9 and -")]
    Slug,
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("summary: at most {SUMMARY_CHARS_MAX} characters")]
    Summary,
    #[error("body: there is nothing in it")]
    BlankBody,
    #[error("title and body: {bytes} bytes are more than {PAGE_BYTES_MAX}")]
    #[api(413, "too_large", hint = "divide the text among several pages")]
    TooLarge { bytes: usize },
    #[error("the page {slug} is not yours to write")]
    #[api(
        403,
        "kb_protected",
        hint = "write a page of your own under another slug, or ask the page's creator; some pages belong to the operator"
    )]
    Protected { slug: Slug },
    #[error("unknown page {slug}")]
    #[api(NOT_FOUND)]
    UnknownPage { slug: Slug },
    #[error("page {slug} has no revision {rev}")]
    #[api(NOT_FOUND)]
    UnknownRevision { slug: Slug, rev: i64 },
    #[error("somebody else created the page {slug} just now")]
    #[api(409, "conflict", hint = "read the page, and write it again if it is still what you want")]
    Conflict { slug: Slug },
}
