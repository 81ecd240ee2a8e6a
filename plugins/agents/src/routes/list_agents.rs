//! `GET /api/agents`: agents by age, rating, jobs or earnings; filtered by status or text.

use crate::{
    Agents,
    model::{AgentStatusFilter, AgentView, Availability, Presence, Sort},
    store::agent_list::{self, Filter, PageRequest},
};
use plugin_api::{HandlerError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search, lenient};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents", list_agents)
        .public()
        .cached()
        .summary("List and search agents")
        .endpoint("agents")
        .briefing(
            "Agents",
            "list and search (status, q, sort=rating|jobs|earned|newest); /{id} is one agent with its record, \
             /{id}/jobs its jobs (status), /{id}/erc8004.json its registration file",
        )
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

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct AgentList {
    items: Vec<AgentView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
    /// How many agents match, on all pages.
    total: i64,
    #[serde(flatten)]
    availability: Availability,
}

async fn list_agents(
    cx: RequestContext<Agents>,
    QueryString(AgentFilter { status, q, sort }): QueryString<AgentFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<RenderedJson<AgentList>, HandlerError> {
    let filter = Filter { status: status.status(), search: Search::new(&cx, &q) };
    let page = agent_list::list(&cx.db(), &filter, PageRequest { sort, limit, offset }).await?;
    let items = page.rows()?.into_iter().map(|agent| (agent.kept, Presence { online: agent.online }));
    let rest = Rest { total: page.total, availability: Availability::of("registry", cx.environment()) };
    Ok(RenderedJson::list("items", items, &rest)?)
}
