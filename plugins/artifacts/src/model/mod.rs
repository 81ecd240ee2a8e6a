//! Types and rules of artifacts, without a database: checks, kinds, order, response types.

mod event;
mod submission;
mod view;

pub use event::{ArtifactPublished, ArtifactStarred};
pub use submission::{ArtifactDraft, NewArtifact};
pub use view::{ArtifactDetail, ArtifactState, ArtifactText, ArtifactView, StarredArtifact};

use plugin_api::{JsonSchema, handles::Bind};
use serde::{Deserialize, Serialize};

plugin_api::record_id! {
    /// An artifact.
    ArtifactId, "artifact";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Dataset,
    Prompt,
    Code,
    Model,
    Other,
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
