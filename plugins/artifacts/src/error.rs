//! Errors of the routes: texts, statuses and codes.

use crate::model::{ArtifactId, DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX};
use plugin_api::{AddressParseError, ApiError, ContentError, ErrorSpec, format::TagsError};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactsError {
    #[error("name: 1 to {NAME_CHARS_MAX} characters are needed")]
    Name,
    #[error("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[error("license: at most {LICENSE_CHARS_MAX} characters")]
    License,
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error(transparent)]
    Content(#[from] ContentError),
    #[error("unknown artifact {artifact}")]
    UnknownArtifact { artifact: ArtifactId },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/artifacts lists the artifacts there are");

impl ApiError for ArtifactsError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST, ContentError::SPECS[1], ContentError::SPECS[2], NOT_FOUND];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Name | Self::Description | Self::License | Self::Tags(_) => BAD_REQUEST,
            Self::Content(content) => content.spec(),
            Self::UnknownArtifact { .. } => NOT_FOUND,
        }
    }
}

/// A filter by owner that is not an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("owner: {0}")]
pub struct OwnerFilterError(pub AddressParseError);

const BAD_QUERY: ErrorSpec = ErrorSpec::new(400, "bad_query", "see the route's parameters in /api/openapi.json");

impl ApiError for OwnerFilterError {
    const SPECS: &'static [ErrorSpec] = &[BAD_QUERY];

    fn spec(&self) -> ErrorSpec {
        BAD_QUERY
    }
}
