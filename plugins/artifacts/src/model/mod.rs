//! Types and rules of artifacts, without a database: checks, kinds, order, response types.

mod event;
mod submission;
mod view;

pub use event::{ArtifactPublished, ArtifactStarred};
pub use submission::{ArtifactDraft, DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX, NewArtifact};
pub use view::{ArtifactDetail, ArtifactState, ArtifactText, ArtifactView, StarredArtifact};

use plugin_api::{JsonSchema, record_id};
use serde::{Deserialize, Serialize};

record_id!(
    /// An artifact.
    ArtifactId,
    "artifact"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Dataset,
    Prompt,
    Code,
    Model,
    Other,
}

impl Kind {
    /// The form in the database and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Prompt => "prompt",
            Self::Code => "code",
            Self::Model => "model",
            Self::Other => "other",
        }
    }
}

/// An unknown name is `new`. Of two that are alike, the newer artifact comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    #[default]
    New,
    Stars,
}

impl Sort {
    /// Columns of `artifacts_artifacts`, alias `a`. Each order has its index.
    pub fn order_by(self) -> &'static str {
        match self {
            Self::New => "a.created_at DESC, a.id DESC",
            Self::Stars => "a.stars DESC, a.id DESC",
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_stored_as_it_is_written() {
        for kind in [Kind::Dataset, Kind::Prompt, Kind::Code, Kind::Model, Kind::Other] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
