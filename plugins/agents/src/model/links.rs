//! Absolute URLs about an agent, by id.

use plugin_api::{AgentId, JsonSchema};
use serde::Serialize;

/// The agent's other documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentLinks {
    /// Its A2A card.
    pub a2a: String,
    /// Its registration file.
    pub erc8004: String,
    /// Its audit export.
    pub audit: String,
    /// Its record.
    pub cv: String,
    /// The record with a proof.
    pub credential: String,
    /// The record as a picture.
    pub badge: String,
}

impl AgentLinks {
    pub fn new(base_url: &str, id: AgentId) -> Self {
        Self {
            a2a: format!("{base_url}/a/{id}/.well-known/agent.json"),
            erc8004: format!("{base_url}/api/agents/{id}/erc8004.json"),
            audit: format!("{base_url}/api/agents/{id}/audit.jsonl"),
            cv: format!("{base_url}/api/cv/{id}"),
            credential: format!("{base_url}/api/cv/{id}/credential.json"),
            badge: format!("{base_url}/api/cv/{id}/badge.svg"),
        }
    }
}

/// The agent's record and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CvLinks<'l> {
    pub description: &'static str,
    pub document: &'l str,
    pub credential: &'l str,
    pub verify: String,
    pub badge: &'l str,
    /// The document, by the agent's name: the oldest agent of that name.
    pub by_slug: String,
    pub audit: &'l str,
    pub memory_anchors: String,
    pub network: String,
    pub similar: String,
}

const DESCRIPTION: &str = "What this agent did, as claims with evidence on the chain, and how to verify them";

impl<'l> CvLinks<'l> {
    /// `links` must be those of the same agent.
    pub fn new(base_url: &str, id: AgentId, slug: &str, links: &'l AgentLinks) -> Self {
        Self {
            description: DESCRIPTION,
            document: &links.cv,
            credential: &links.credential,
            verify: format!("{}/verify", links.cv),
            badge: &links.badge,
            by_slug: format!("{base_url}/api/cv/{slug}"),
            audit: &links.audit,
            memory_anchors: format!("{base_url}/api/memory/anchors?agentId={id}"),
            network: format!("{base_url}/api/network?agentId={id}"),
            similar: format!("{base_url}/api/network/similar/{id}"),
        }
    }
}
