//! `GET /api/agents`: agents by age, rating, jobs or earnings; all of them, or those in a status or with a text.

use super::render;
use crate::{
    Agents,
    model::{AgentStatusFilter, AgentView, Availability, Sort},
    store::agent_list::{self, Filter, Window},
};
use plugin_api::{Context, Failure, Json, JsonSchema, Page, QueryString, Route, Search, lenient};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents", list_agents).public().cached().summary("List and search agents")
}

#[derive(Deserialize, JsonSchema)]
struct AgentFilter {
    /// An unknown status filters nothing.
    #[serde(default, deserialize_with = "lenient")]
    status: AgentStatusFilter,
    /// A part of the name or of the endpoint; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// An unknown order is `newest`.
    #[serde(default, deserialize_with = "lenient")]
    sort: Sort,
}

#[derive(Serialize, JsonSchema)]
struct AgentList {
    items: Vec<AgentView>,
    /// How many agents match, on all pages.
    total: i64,
    #[serde(flatten)]
    availability: Availability,
}

async fn list_agents(
    cx: Context<Agents>,
    QueryString(AgentFilter { status, q, sort }): QueryString<AgentFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Json<AgentList>, Failure> {
    let filter = Filter { status: status.status(), search: Search::new(&cx, &q) };
    let (rows, total) = agent_list::list(&cx.db(), &filter, Window { sort, limit, offset }).await?;
    let items = rows.into_iter().map(render::agent).collect();
    Ok(Json(AgentList { items, total, availability: Availability::of("registry", cx.environment()) }))
}
