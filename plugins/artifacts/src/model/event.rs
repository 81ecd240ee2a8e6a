//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{ArtifactId, ArtifactText, Kind};
use plugin_api::{Address, EventBuilder, HostError, format};
use serde::Serialize;

const EXCERPT_CHARS: usize = 160;

/// Data of `artifact.publish`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactPublished<'a> {
    artifact_id: ArtifactId,
    name: &'a str,
    kind: Kind,
    license: &'a str,
    tags: &'a [String],
    description: String,
}

impl<'a> ArtifactPublished<'a> {
    pub const TYPE: &'static str = "artifact.publish";

    pub fn new(artifact_id: ArtifactId, text: &'a ArtifactText) -> Self {
        let ArtifactText { name, kind, license, tags, description, .. } = text;
        Self { artifact_id, name, kind: *kind, license, tags, description: format::excerpt(description, EXCERPT_CHARS) }
    }

    pub fn by(&self, owner: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        Ok(EventBuilder::new(Self::TYPE, self).actor(owner).subject("artifact", self.artifact_id).at(now_s))
    }
}

/// Data of `artifact.star`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStarred<'a> {
    pub artifact_id: ArtifactId,
    pub name: &'a str,
    pub owner: Address,
    /// Including this one.
    pub stars: i64,
}

impl ArtifactStarred<'_> {
    pub const TYPE: &'static str = "artifact.star";

    pub fn by(&self, stargazer: Address, now_s: i64) -> Result<EventBuilder, HostError> {
        Ok(EventBuilder::new(Self::TYPE, self).actor(stargazer).subject("artifact", self.artifact_id).at(now_s))
    }
}
