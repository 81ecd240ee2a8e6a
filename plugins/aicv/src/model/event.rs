//! Events about endorsements: their public members.

use plugin_api::{Address, AgentId, Event};
use serde::Serialize;

/// An agent endorses another one.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("endorsement.given", subject = "agent", id = to_agent_id, actor = owner)]
pub struct EndorsementGiven<'e> {
    pub endorsement_id: i64,
    pub from_agent_id: AgentId,
    pub from_name: Option<&'e str>,
    pub to_agent_id: AgentId,
    pub to_name: Option<&'e str>,
    pub capability: &'e str,
    pub weight: u32,
    /// 0 unbacked, 1 paid, 2 related.
    pub basis: u8,
    pub evidence_job_id: i64,
    /// Of the agent that endorses.
    #[serde(skip)]
    pub owner: Option<Address>,
}

/// It takes the endorsement back.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("endorsement.revoked", subject = "agent", id = to_agent_id)]
pub struct EndorsementTaken {
    pub endorsement_id: i64,
    pub from_agent_id: AgentId,
    pub to_agent_id: AgentId,
}
