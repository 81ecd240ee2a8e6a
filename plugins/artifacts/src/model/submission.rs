//! Request payloads, and their checked forms.

use super::Kind;
use crate::{
    error::ArtifactsError,
    limits::{DESCRIPTION_CHARS_MAX, LICENSE_CHARS_MAX, NAME_CHARS_MAX},
};
use plugin_api::{JsonSchema, content::NewContent, format};
use serde::Deserialize;

/// Payload of `artifact.publish`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewArtifact {
    /// 1 to 120 characters (UTF-16 units) after trimming.
    name: String,
    kind: Kind,
    /// At most 4000 characters.
    #[serde(default)]
    description: Option<String>,
    /// At most 64 characters after trimming.
    #[serde(default)]
    license: Option<String>,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(flatten)]
    content: NewContent,
}

/// A checked artifact; its content is checked separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactDraft {
    pub name: String,
    pub kind: Kind,
    pub description: String,
    pub license: String,
    pub tags: Vec<String>,
}

impl NewArtifact {
    pub fn check(self) -> Result<(ArtifactDraft, NewContent), ArtifactsError> {
        let name = format::trimmed(&self.name, 1..=NAME_CHARS_MAX).ok_or(ArtifactsError::Name)?;
        let description = self.description.unwrap_or_default();
        if format::utf16_len(&description) > DESCRIPTION_CHARS_MAX {
            return Err(ArtifactsError::Description);
        }
        let license = self.license.unwrap_or_default();
        let license = format::trimmed(&license, 0..=LICENSE_CHARS_MAX).ok_or(ArtifactsError::License)?;
        let tags = format::tags(&self.tags.unwrap_or_default()).map_err(ArtifactsError::Tags)?;
        Ok((ArtifactDraft { name, kind: self.kind, description, license, tags }, self.content))
    }
}
