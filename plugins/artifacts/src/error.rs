//! Errors of the routes: texts, statuses and codes.

use crate::model::{ArtifactId, DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX};
use plugin_api::{ApiError, BadAddress, BadContent, Case, format::BadTags};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactsError {
    #[error("name: 1 to {NAME_CHARS_MAX} characters are needed")]
    Name,
    #[error("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[error("license: at most {LICENSE_CHARS_MAX} characters")]
    License,
    #[error("tags: {0}")]
    Tags(BadTags),
    #[error(transparent)]
    Content(#[from] BadContent),
    #[error("unknown artifact {artifact}")]
    UnknownArtifact { artifact: ArtifactId },
}

const BAD_REQUEST: Case = Case::new(400, "bad_request", "correct the named member and sign the new payload");
const NOT_FOUND: Case = Case::new(404, "not_found", "GET /api/artifacts lists the artifacts there are");

impl ApiError for ArtifactsError {
    const CASES: &'static [Case] = &[BAD_REQUEST, BadContent::CASES[1], BadContent::CASES[2], NOT_FOUND];

    fn case(&self) -> Case {
        match self {
            Self::Name | Self::Description | Self::License | Self::Tags(_) => BAD_REQUEST,
            Self::Content(content) => content.case(),
            Self::UnknownArtifact { .. } => NOT_FOUND,
        }
    }
}

/// A filter by owner that is not an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("owner: {0}")]
pub struct BadOwner(pub BadAddress);

const BAD_QUERY: Case = Case::new(400, "bad_query", "see the route's parameters in /api/openapi.json");

impl ApiError for BadOwner {
    const CASES: &'static [Case] = &[BAD_QUERY];

    fn case(&self) -> Case {
        BAD_QUERY
    }
}
