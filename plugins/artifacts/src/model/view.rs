//! Response types.
//!
//! A detail and a starred artifact are assembled from the row's JSON: their `text` is documented as an [`ArtifactText`], and
//! adds nothing when they are serialised.

use super::{ArtifactDraft, ArtifactId, Kind};
use plugin_api::{
    Address, Author, Hash256, JsonSchema,
    content::{Content, PayloadInfo},
    format,
};
use serde::Serialize;

/// An artifact in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArtifactView {
    #[serde(flatten)]
    pub text: ArtifactText,
    #[serde(flatten)]
    pub state: ArtifactState,
}

/// What no star changes of an artifact: its row keeps it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactText {
    pub name: String,
    pub description: String,
    pub license: String,
    pub kind: Kind,
    /// keccak-256 of its bytes, if they are in the payload store.
    pub payload_hash: Option<Hash256>,
    /// `fmx://payload/<hash>`
    #[serde(rename = "payloadURI")]
    pub payload_uri: Option<String>,
    /// Bytes.
    pub payload_size: Option<i64>,
    pub payload_content_type: Option<String>,
    /// Begins with `https://`.
    pub url: Option<String>,
    pub tags: Vec<String>,
    /// Unix seconds.
    pub created_at: i64,
}

impl ArtifactText {
    pub fn new(draft: &ArtifactDraft, content: &Content, payload: Option<PayloadInfo>, now_s: i64) -> Self {
        let ArtifactDraft { name, kind, description, license, tags } = draft.clone();
        let (payload_size, payload_content_type) = payload.map(|info| (info.size, info.content_type)).unzip();
        let (payload_hash, url) = (content.payload, content.url.clone());
        let payload_uri = payload_hash.map(format::payload_uri);
        Self {
            name,
            description,
            license,
            kind,
            payload_hash,
            payload_uri,
            payload_size,
            payload_content_type,
            url,
            tags,
            created_at: now_s,
        }
    }
}

/// What is true of an artifact when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArtifactState {
    pub id: ArtifactId,
    pub owner: Author,
    pub stars: i64,
}

/// An artifact with who starred it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArtifactDetail {
    #[serde(flatten)]
    #[schemars(with = "ArtifactText")]
    pub text: (),
    #[serde(flatten)]
    pub state: ArtifactState,
    /// At most 100, the newest star first.
    pub stargazers: Vec<Author>,
    /// The query's `viewer`, if it is an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewer: Option<Address>,
    /// Whether the viewer starred it; only with a viewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starred: Option<bool>,
}

/// An artifact that the signer has starred.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StarredArtifact {
    #[serde(flatten)]
    #[schemars(with = "ArtifactText")]
    pub text: (),
    #[serde(flatten)]
    pub state: ArtifactState,
    /// Always true.
    pub starred: bool,
    /// False when the star was there already.
    pub changed: bool,
}
