//! Errors of the routes: texts, statuses and codes.

use crate::{
    limits::{DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX},
    model::ArtifactId,
};
use plugin_api::{ApiError, content::ContentError, format::TagsError};

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum ArtifactsError {
    #[api("name: 1 to {NAME_CHARS_MAX} characters are needed")]
    Name,
    #[api("description: at most {DESCRIPTION_CHARS_MAX} characters")]
    Description,
    #[api("license: at most {LICENSE_CHARS_MAX} characters")]
    License,
    #[api("tags: {0}")]
    Tags(TagsError),
    #[api(transparent)]
    Content(#[from] ContentError),
    #[api(404, "not_found", "unknown artifact {artifact}", hint = "GET /api/artifacts lists the artifacts there are")]
    UnknownArtifact { artifact: ArtifactId },
}

/// A filter by owner that is not an address. It is not a variant above, because only the list has it.
#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_query", "owner: {0}", hint = "see the route's parameters in /api/openapi.json")]
pub struct OwnerFilterError(pub &'static str);
