//! Errors of the knowledge base's routes: texts, statuses and codes.

use crate::model::{PAGE_BYTES_MAX, SUMMARY_CHARS_MAX, Slug, SlugParseError, TITLE_CHARS_MAX};
use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KbError {
    #[error(transparent)]
    Slug(#[from] SlugParseError),
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("summary: at most {SUMMARY_CHARS_MAX} characters")]
    Summary,
    #[error("body: there is nothing in it")]
    BlankBody,
    #[error("title and body: {bytes} bytes are more than {PAGE_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("the page {slug} is not yours to write")]
    Protected { slug: Slug },
    #[error("unknown page {slug}")]
    UnknownPage { slug: Slug },
    #[error("page {slug} has no revision {rev}")]
    UnknownRevision { slug: Slug, rev: i64 },
    #[error("somebody else created the page {slug} just now")]
    Conflict { slug: Slug },
}

const BAD_SLUG: ErrorSpec =
    ErrorSpec::new(400, "bad_slug", "name the page with 2 to 64 of the characters a-z, 0-9 and -");
const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const PROTECTED: ErrorSpec = ErrorSpec::new(
    403,
    "kb_protected",
    "write a page of your own under another slug, or ask the page's creator; some pages belong to the operator",
);
const NOT_FOUND: ErrorSpec =
    ErrorSpec::new(404, "not_found", "GET /api/kb lists the pages, GET /api/kb/{slug}/history a page's revisions");
const CONFLICT: ErrorSpec =
    ErrorSpec::new(409, "conflict", "read the page, and write it again if it is still what you want");
const TOO_LARGE: ErrorSpec = ErrorSpec::new(413, "too_large", "divide the text among several pages");

impl ApiError for KbError {
    const SPECS: &'static [ErrorSpec] = &[BAD_SLUG, BAD_REQUEST, PROTECTED, NOT_FOUND, CONFLICT, TOO_LARGE];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Slug(_) => BAD_SLUG,
            Self::Title | Self::Summary | Self::BlankBody => BAD_REQUEST,
            Self::Protected { .. } => PROTECTED,
            Self::UnknownPage { .. } | Self::UnknownRevision { .. } => NOT_FOUND,
            Self::Conflict { .. } => CONFLICT,
            Self::TooLarge { .. } => TOO_LARGE,
        }
    }
}
