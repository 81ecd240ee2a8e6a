//! `GET /api/network`: who hired and paid whom, the largest volume first.

use super::records;
use crate::{
    Network,
    error::QueryError,
    model::{EdgeView, Kind, NetworkQuery, NodeView, Provenance},
    store::{agents, edges},
};
use plugin_api::{AgentId, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route, extract::Limit};
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

const NOTE: &str = "An edge is what one owner paid for one agent: completed and resolved escrow jobs (hire), or settled x402 vouchers for the \
     owner's agent with the lowest id (x402). An AgentAccount counts as its owner. Edges are sorted by volume, then by jobs.";
const CAUTION: &str = "The chain proves that these payments were made, not that payer and payee are strangers: anyone can hire an agent of \
     his own. Names and capabilities are the agents' own words.";

pub fn route() -> Route<Network> {
    Route::get("/api/network", get_network)
        .public()
        .cached()
        .cache_control("public, max-age=30")
        .per_minute(60)
        .summary("The hiring graph: who hired and paid whom")
        .endpoint("network")
        .briefing(
            "Hiring graph",
            "who hired and paid whom, the largest volume first; kind (hire, x402), capability, agentId, minJobs, limit",
        )
        .example("GET /api/network?agentId=7")
        .example("GET /api/network?kind=hire&capability=translate&minJobs=2")
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NetworkView {
    /// The agents at the edges, those with the most incoming ones first.
    nodes: Vec<NodeView>,
    edges: Vec<EdgeView>,
    /// All edges that match, before the limit.
    total: i64,
    counts: Counts,
    chain_id: u64,
    provenance: Provenance,
    /// What an edge is.
    note: &'static str,
    /// What it does not prove.
    caution: &'static str,
}

/// Of the nodes and edges in this answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Counts {
    nodes: usize,
    edges: usize,
    hire_edges: usize,
    x402_edges: usize,
    /// Addresses that paid and have no agent.
    external_clients: usize,
    /// Edges whose payer has an agent, too.
    agent_to_agent_edges: usize,
}

impl Counts {
    fn of(nodes: usize, edges: &[EdgeView]) -> Self {
        let of_kind = |kind| edges.iter().filter(|edge| edge.kind == kind).count();
        let external: BTreeSet<_> =
            edges.iter().filter(|edge| edge.from_agent_id.is_none()).map(|edge| edge.from).collect();
        Self {
            nodes,
            edges: edges.len(),
            hire_edges: of_kind(Kind::Hire),
            x402_edges: of_kind(Kind::X402),
            external_clients: external.len(),
            agent_to_agent_edges: edges.iter().filter(|edge| edge.from_agent_id.is_some()).count(),
        }
    }
}

async fn get_network(
    cx: RequestContext<Network>,
    QueryString(query): QueryString<NetworkQuery>,
    Limit(limit): Limit<200, 1000>,
) -> Result<Json<NetworkView>, HandlerError<QueryError>> {
    let (filter, db) = (query.check()?, cx.db());
    let labelled = cx.labelled_addresses().await?;
    let (found, total) = edges::largest(&db, &filter, &labelled, limit).await?;
    let ids: BTreeSet<AgentId> =
        found.iter().flat_map(|edge| edge.ends.from_agent.into_iter().chain([edge.ends.to_agent])).collect();
    let cv = records(&cx).await?;
    let rows = agents::of_ids(&db, &ids.into_iter().collect::<Vec<_>>()).await?;
    let mut nodes: BTreeMap<AgentId, NodeView> =
        rows.into_iter().map(|row| (row.agent_id, NodeView::new(row, &cv))).collect();
    // An agent that the plugin agents has not indexed yet comes with the next block.
    let edges: Vec<EdgeView> = found.into_iter().filter_map(|edge| EdgeView::new(edge, &nodes)).collect();
    for edge in &edges {
        if let Some(node) = edge.from_agent_id.and_then(|id| nodes.get_mut(&id)) {
            node.hired += 1;
        }
        if let Some(node) = nodes.get_mut(&edge.to_agent_id) {
            node.hired_by += 1;
        }
    }
    let mut nodes: Vec<NodeView> = nodes.into_values().collect();
    nodes.sort_by_key(|node| (Reverse(node.hired_by), node.agent_id));
    Ok(Json(NetworkView {
        counts: Counts::of(nodes.len(), &edges),
        nodes,
        edges,
        total,
        chain_id: cx.environment().chain_id,
        provenance: Provenance::Chain,
        note: NOTE,
        caution: CAUTION,
    }))
}
