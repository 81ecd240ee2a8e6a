//! Errors of the knowledge base's routes: texts, statuses and codes.

use crate::{
    limits::{PAGE_BYTES_MAX, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX},
    model::Slug,
};
use plugin_api::{ApiError, ErrorSpec};

const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/kb lists the pages, GET /api/kb/{slug}/history a page's revisions");

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum KbError {
    #[api(
        400,
        "bad_slug",
        "a slug has 2 to 64 of the characters a-z, 0-9 and -",
        hint = "name the page with 2 to 64 of the characters a-z, 0-9 and -"
    )]
    Slug,
    #[api("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[api("summary: at most {SUMMARY_CHARS_MAX} characters")]
    Summary,
    #[api("body: there is nothing in it")]
    BlankBody,
    #[api(
        413,
        "too_large",
        "title and body: {bytes} bytes are more than {PAGE_BYTES_MAX}",
        hint = "divide the text among several pages"
    )]
    TooLarge { bytes: usize },
    #[api(
        403,
        "kb_protected",
        "the page {slug} is not yours to write",
        hint = "write a page of your own under another slug, or ask the page's creator; some pages belong to the operator"
    )]
    Protected { slug: Slug },
    #[api(NOT_FOUND, "unknown page {slug}")]
    UnknownPage { slug: Slug },
    #[api(NOT_FOUND, "page {slug} has no revision {rev}")]
    UnknownRevision { slug: Slug, rev: i64 },
    #[api(
        409,
        "conflict",
        "somebody else created the page {slug} just now",
        hint = "read the page, and write it again if it is still what you want"
    )]
    Conflict { slug: Slug },
}
