//! The addresses of an agent's record and of what belongs to it.

use plugin_api::{AgentId, HostError, HostHandle};
use serde_json::{Value, json};

const PATHS: [&str; 4] =
    ["/api/agents/{id}/audit.jsonl", "/api/memory/anchors", "/api/network", "/api/network/similar/{agent}"];

/// Which documents about agents other plugins serve: no link names a route that nobody serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served(pub [bool; 4]);

impl Served {
    pub async fn read(host: &HostHandle) -> Result<Self, HostError> {
        host.serves(PATHS).await.map(Self)
    }
}

pub fn document_url(base_url: &str, id: AgentId) -> String {
    format!("{base_url}/api/cv/{id}")
}

pub fn credential_url(base_url: &str, id: AgentId, query: &str) -> String {
    format!("{base_url}/api/cv/{id}/credential.json{query}")
}

pub fn context_url(base_url: &str) -> String {
    format!("{base_url}/api/ns/aicv/v1")
}

pub fn schema_url(base_url: &str) -> String {
    format!("{base_url}/api/ns/aicv/v1/schema.json")
}

/// `slug` is one that leads to this agent.
pub fn links(base_url: &str, id: AgentId, slug: Option<&str>, served: Served) -> Value {
    let Served([audit, anchors, network, similar]) = served;
    let document = document_url(base_url, id);
    let given = |is_served: bool, path: String| is_served.then(|| format!("{base_url}{path}"));
    json!({
        "document": document,
        "credential": format!("{document}/credential.json"),
        "verify": format!("{document}/verify"),
        "badge": format!("{document}/badge.svg"),
        "bySlug": slug.map(|slug| format!("{base_url}/api/cv/{slug}")),
        "audit": given(audit, format!("/api/agents/{id}/audit.jsonl")),
        "memoryAnchors": given(anchors, format!("/api/memory/anchors?agentId={id}")),
        "network": given(network, format!("/api/network?agentId={id}")),
        "similar": given(similar, format!("/api/network/similar/{id}")),
    })
}
