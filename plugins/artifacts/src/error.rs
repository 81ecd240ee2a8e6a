//! Errors of the routes: texts, statuses and codes.

use crate::model::{ArtifactId, DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX};
use plugin_api::{ApiError, content::ContentError, format::TagsError};

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
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
    #[api(transparent)]
    Content(#[from] ContentError),
    #[error("unknown artifact {artifact}")]
    #[api(404, "not_found", hint = "GET /api/artifacts lists the artifacts there are")]
    UnknownArtifact { artifact: ArtifactId },
}

/// A filter by owner that is not an address. It is not a variant above, because only the list has it.
#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
#[error("owner: {0}")]
#[api(400, "bad_query", hint = "see the route's parameters in /api/openapi.json")]
pub struct OwnerFilterError(pub &'static str);
