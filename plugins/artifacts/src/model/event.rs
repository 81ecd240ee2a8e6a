//! Events of the activity log. Clients depend on these members: wire names, public data only.

use super::{ArtifactId, Kind};
use plugin_api::{Address, Event};
use serde::Serialize;

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("artifact.publish", subject = "artifact", id = artifact_id)]
pub struct ArtifactPublished<'a> {
    pub artifact_id: ArtifactId,
    pub name: &'a str,
    pub kind: Kind,
    pub license: &'a str,
    pub tags: &'a [String],
    /// An excerpt.
    pub description: String,
}

#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("artifact.star", subject = "artifact", id = artifact_id)]
pub struct ArtifactStarred<'a> {
    pub artifact_id: ArtifactId,
    pub name: &'a str,
    pub owner: Address,
    /// Including this one.
    pub stars: i64,
}
