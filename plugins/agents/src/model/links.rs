//! Absolute URLs about an agent, by id. Rule: none names a route that no enabled plugin serves.

use plugin_api::{AgentId, HostError, HostHandle, JsonSchema};
use serde::Serialize;

const PATHS: [&str; 11] = [
    "/a/{slug}/.well-known/agent.json",
    "/a/{slug}/invoke",
    "/api/x402/supported",
    "/api/agents/{id}/audit.jsonl",
    "/api/cv/{agent}",
    "/api/cv/{agent}/credential.json",
    "/api/cv/{agent}/verify",
    "/api/cv/{agent}/badge.svg",
    "/api/memory/anchors",
    "/api/network",
    "/api/network/similar/{agent}",
];

/// Which documents about agents other plugins serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedDocuments {
    pub a2a: bool,
    pub invoke: bool,
    /// How calls are paid.
    pub x402: bool,
    pub audit: bool,
    pub cv: bool,
    pub credential: bool,
    pub verify: bool,
    pub badge: bool,
    pub memory_anchors: bool,
    pub network: bool,
    pub similar: bool,
}

impl ServedDocuments {
    pub async fn read(host: &HostHandle) -> Result<Self, HostError> {
        let [a2a, invoke, x402, audit, cv, credential, verify, badge, memory_anchors, network, similar] =
            host.serves(PATHS).await?;
        Ok(Self { a2a, invoke, x402, audit, cv, credential, verify, badge, memory_anchors, network, similar })
    }
}

/// The agent's other documents; null where no plugin serves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentLinks {
    /// Its A2A card.
    pub a2a: Option<String>,
    /// Where calls go to it through the gateway.
    pub invoke: Option<String>,
    /// How calls are paid.
    pub x402: Option<String>,
    /// Its registration file.
    pub erc8004: String,
    /// Its audit export.
    pub audit: Option<String>,
    /// Its record.
    pub cv: Option<String>,
    /// The record with a proof.
    pub credential: Option<String>,
    /// The record as a picture.
    pub badge: Option<String>,
}

impl AgentLinks {
    pub fn new(base_url: &str, id: AgentId, served: ServedDocuments) -> Self {
        Self {
            a2a: served.a2a.then(|| format!("{base_url}/a/{id}/.well-known/agent.json")),
            invoke: served.invoke.then(|| format!("{base_url}/a/{id}/invoke")),
            x402: served.x402.then(|| format!("{base_url}/api/x402/supported")),
            erc8004: format!("{base_url}/api/agents/{id}/erc8004.json"),
            audit: served.audit.then(|| format!("{base_url}/api/agents/{id}/audit.jsonl")),
            cv: served.cv.then(|| format!("{base_url}/api/cv/{id}")),
            credential: served.credential.then(|| format!("{base_url}/api/cv/{id}/credential.json")),
            badge: served.badge.then(|| format!("{base_url}/api/cv/{id}/badge.svg")),
        }
    }
}

/// The agent's record and what belongs to it; members are null where no plugin serves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvLinks<'l> {
    pub description: &'static str,
    pub document: &'l str,
    pub credential: Option<&'l str>,
    pub verify: Option<String>,
    pub badge: Option<&'l str>,
    /// The document, by the agent's name: the oldest agent of that name.
    pub by_slug: String,
    pub audit: Option<&'l str>,
    pub memory_anchors: Option<String>,
    pub network: Option<String>,
    pub similar: Option<String>,
}

const DESCRIPTION: &str = "What this agent did, as claims with evidence on the chain, and how to verify them";

impl<'l> CvLinks<'l> {
    /// `links` must be those of the same agent. `None` where no plugin serves records.
    pub fn new(
        base_url: &str,
        id: AgentId,
        slug: &str,
        links: &'l AgentLinks,
        served: ServedDocuments,
    ) -> Option<Self> {
        let document = links.cv.as_deref()?;
        Some(Self {
            description: DESCRIPTION,
            document,
            credential: links.credential.as_deref(),
            verify: served.verify.then(|| format!("{document}/verify")),
            badge: links.badge.as_deref(),
            by_slug: format!("{base_url}/api/cv/{slug}"),
            audit: links.audit.as_deref(),
            memory_anchors: served.memory_anchors.then(|| format!("{base_url}/api/memory/anchors?agentId={id}")),
            network: served.network.then(|| format!("{base_url}/api/network?agentId={id}")),
            similar: served.similar.then(|| format!("{base_url}/api/network/similar/{id}")),
        })
    }
}
