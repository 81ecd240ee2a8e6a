//! `GET /api/network/similar/{agent}`: agents that are like this one, with the reason.

use super::records;
use crate::{
    Network,
    error::UnknownAgent,
    model::{METHOD, Method, SimilarAgentView, Subject, preselect, rank},
    store::{agents, candidates},
};
use plugin_api::{
    AgentId, HandlerError, JsonSchema, Listed, Path, RequestContext, Route, contracts::registry::AgentName,
    extract::Limit,
};
use serde::Serialize;

/// Agents that are read and compared.
const COMPARED_MAX: usize = 200;

pub fn route() -> Route<Network> {
    Route::get("/api/network/similar/{agent}", list_similar_agents)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .per_minute(60)
        .summary("Agents that are like this one, and why")
        .description("`agent` is a number or a slug. `total` counts the agents that were compared and are like it.")
        .endpoint("networkSimilar")
        .briefing(
            "Similar agents",
            "by id or slug: agents that share capabilities, clients or the price with it, and why",
        )
        .example("GET /api/network/similar/7?limit=10")
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SimilarAgentList {
    agent_id: AgentId,
    name: String,
    /// Declared in the agent's card, in lower case.
    capabilities: Vec<String>,
    total: usize,
    method: Method,
}

async fn list_similar_agents(
    cx: RequestContext<Network>,
    Path(agent): Path<String>,
    Limit(limit): Limit<5, 25>,
) -> Result<Listed<SimilarAgentView, SimilarAgentList>, HandlerError<UnknownAgent>> {
    let db = cx.db();
    let Some(name) = AgentName::parse(&agent) else { return Err(UnknownAgent(agent).into()) };
    let Some(row) = agents::find(&db, &name).await? else { return Err(UnknownAgent(agent).into()) };
    let capabilities = row.lower_capabilities();
    let subject = Subject {
        agent_id: row.agent_id,
        capabilities: capabilities.iter().cloned().collect(),
        price: row.price_per_job,
    };
    let labelled = cx.labelled_addresses().await?;
    let candidates = preselect(candidates::find(&db, &subject, &labelled).await?, COMPARED_MAX);
    let ids: Vec<AgentId> = candidates.keys().copied().collect();
    let mut items = rank(&subject, &candidates, agents::of_ids(&db, &ids).await?, records(&cx).await?);
    let total = items.len();
    items.truncate(limit as usize);
    let list = SimilarAgentList { agent_id: row.agent_id, name: row.name, capabilities, total, method: METHOD };
    Ok(Listed::new(items, list)?)
}
