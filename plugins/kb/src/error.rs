//! Errors of the knowledge base's routes: texts, statuses and codes.

use crate::model::{BadSlug, PAGE_BYTES_MAX, SUMMARY_CHARS_MAX, Slug, TITLE_CHARS_MAX};
use plugin_api::{ApiError, Case};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KbError {
    #[error(transparent)]
    Slug(#[from] BadSlug),
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

const BAD_SLUG: Case = Case::new(400, "bad_slug", "name the page with 2 to 64 of the characters a-z, 0-9 and -");
const BAD_REQUEST: Case = Case::new(400, "bad_request", "correct the named member and sign the new payload");
const PROTECTED: Case = Case::new(
    403,
    "kb_protected",
    "write a page of your own under another slug, or ask the page's creator; some pages belong to the operator",
);
const NOT_FOUND: Case =
    Case::new(404, "not_found", "GET /api/kb lists the pages, GET /api/kb/{slug}/history a page's revisions");
const CONFLICT: Case = Case::new(409, "conflict", "read the page, and write it again if it is still what you want");
const TOO_LARGE: Case = Case::new(413, "too_large", "divide the text among several pages");

impl ApiError for KbError {
    const CASES: &'static [Case] = &[BAD_SLUG, BAD_REQUEST, PROTECTED, NOT_FOUND, CONFLICT, TOO_LARGE];

    fn case(&self) -> Case {
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
