//! Edges and agents of the graph as they are returned.

use super::{Hundredths, Kind, Sums, average};
use plugin_api::{Address, AgentId, JsonSchema, Wei, json_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    // Events of the network's contracts.
    Chain,
}

/// A row of the view `agents_v1`.
#[derive(Clone, Debug, Deserialize)]
pub struct AgentRow {
    pub agent_id: AgentId,
    pub name: String,
    pub slug: String,
    pub owner: Address,
    pub status: String,
    #[serde(deserialize_with = "json_text")]
    pub capabilities: Vec<String>,
    pub price_per_job: Wei,
    pub jobs_completed: i64,
    pub rating_count: i64,
    pub rating_sum: i64,
}

impl AgentRow {
    pub fn rating_avg(&self) -> Option<Hundredths> {
        average(self.rating_sum, self.rating_count)
    }

    /// In lower case, each once, in the order in which it is declared.
    pub fn lower_capabilities(&self) -> Vec<String> {
        let mut lower: Vec<String> = Vec::with_capacity(self.capabilities.len());
        for capability in self.capabilities.iter().map(|text| text.trim().to_lowercase()) {
            if !capability.is_empty() && !lower.contains(&capability) {
                lower.push(capability);
            }
        }
        lower
    }
}

/// An agent of the graph.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    pub agent_id: AgentId,
    pub name: String,
    pub slug: String,
    /// In the registry.
    pub owner: Address,
    /// `None`, `Active`, `Paused` or `Retired`.
    pub status: String,
    /// Declared in the agent's card, in lower case.
    pub capabilities: Vec<String>,
    pub price_per_job_wei: Wei,
    /// By the registry's own count.
    pub jobs_completed: i64,
    /// Null without a rating.
    pub rating_avg: Option<Hundredths>,
    /// Edges of this answer that begin here.
    pub hired: usize,
    /// Edges of this answer that end here.
    pub hired_by: usize,
    /// The agent's record; null where no plugin serves records.
    pub cv: Option<String>,
}

impl NodeView {
    /// Without edges. `cv` says where an agent's record is.
    pub fn new(row: AgentRow, cv: impl Fn(AgentId) -> Option<String>) -> Self {
        let (rating_avg, capabilities) = (row.rating_avg(), row.lower_capabilities());
        Self {
            agent_id: row.agent_id,
            name: row.name,
            slug: row.slug,
            owner: row.owner,
            status: row.status,
            capabilities,
            price_per_job_wei: row.price_per_job,
            jobs_completed: row.jobs_completed,
            rating_avg,
            hired: 0,
            hired_by: 0,
            cv: cv(row.agent_id),
        }
    }
}

/// Who paid whom, and how much.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EdgeView {
    pub kind: Kind,
    /// Who hired or paid: an AgentAccount counts as its owner.
    pub from: Address,
    /// The agent with the lowest id among those of `from`.
    pub from_agent_id: Option<AgentId>,
    pub from_name: Option<String>,
    /// The owner of the agent that was hired or paid.
    pub to: Address,
    pub to_agent_id: AgentId,
    pub to_name: String,
    /// Jobs, or settlements.
    pub jobs: i64,
    /// What they moved, fees included.
    pub volume_wei: Wei,
    pub rated_jobs: i64,
    /// Of the rated jobs; null without one.
    pub avg_rating: Option<Hundredths>,
    /// Unix seconds of the first settlement.
    pub first_at: i64,
    /// Unix seconds of the last settlement.
    pub last_at: i64,
    /// The 50 highest; none of x402.
    pub job_ids: Vec<i64>,
    pub provenance: Provenance,
    pub proven: bool,
    /// The events that say so.
    pub source: &'static str,
}

/// The ends of an edge, without names.
#[derive(Clone, Debug)]
pub struct Ends {
    pub kind: Kind,
    pub from: Address,
    pub from_agent: Option<AgentId>,
    pub to: Address,
    pub to_agent: AgentId,
}

/// An edge with the sums of its pairs.
#[derive(Clone, Debug)]
pub struct Edge {
    pub ends: Ends,
    pub sums: Sums,
}

impl EdgeView {
    /// `None` when one of the agents is not among the nodes.
    pub fn new(Edge { ends, sums }: Edge, nodes: &BTreeMap<AgentId, NodeView>) -> Option<Self> {
        let name = |id: AgentId| nodes.get(&id).map(|node| node.name.clone());
        let (from_name, to_name) = (ends.from_agent.map(name), name(ends.to_agent)?);
        let from_name = match from_name {
            Some(name) => Some(name?),
            None => None,
        };
        Some(Self {
            kind: ends.kind,
            from: ends.from,
            from_agent_id: ends.from_agent,
            from_name,
            to: ends.to,
            to_agent_id: ends.to_agent,
            to_name,
            jobs: sums.jobs,
            volume_wei: sums.volume,
            rated_jobs: sums.rated_jobs,
            avg_rating: average(sums.rating_sum, sums.rated_jobs),
            first_at: sums.first_at,
            last_at: sums.last_at,
            job_ids: sums.job_ids,
            provenance: Provenance::Chain,
            proven: true,
            source: match ends.kind {
                Kind::Hire => "escrow: JobCompleted, JobResolved",
                Kind::X402 => "x402Vault: Settled",
            },
        })
    }
}
