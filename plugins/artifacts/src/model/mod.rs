//! Types and rules of artifacts, without a database: checks, kinds, order, response types.

mod event;
mod kind;
mod submission;
mod view;

pub use event::{ArtifactPublished, ArtifactStarred};
pub use kind::{Kind, Sort};
pub use submission::{ArtifactDraft, DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX, NewArtifact};
pub use view::{ArtifactDetail, ArtifactState, ArtifactText, ArtifactView, DetailState, StarState, StarredArtifact};

use plugin_api::record_id;

record_id!(
    /// An artifact.
    ArtifactId,
    "artifact"
);
