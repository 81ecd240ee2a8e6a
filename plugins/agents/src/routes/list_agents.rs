//! `GET /api/agents`: agents by age, rating, jobs or earnings; filtered by status or text.

use crate::{Agents, model, store};
use plugin_api::{HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, lenient};
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
    #[serde(default, deserialize_with = "model::status_filter")]
    #[schemars(with = "String", extend("enum" = ["active", "paused", "retired", "none"]))]
    status: Option<model::AgentStatus>,
    /// A part of the name or of the endpoint; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// An unknown order is `newest`.
    #[serde(default, deserialize_with = "lenient")]
    sort: model::Sort,
}

#[derive(Serialize, JsonSchema)]
struct AgentList {
    /// How many agents match, on all pages.
    total: i64,
    #[serde(flatten)]
    availability: model::Availability,
}

async fn list_agents(
    cx: RequestContext<Agents>,
    QueryString(AgentFilter { status, q, sort }): QueryString<AgentFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::AgentView, AgentList>, HandlerError> {
    let agents = store::agents::agents(sort, status, Search::new(&cx, &q));
    let page = agents.page(limit, offset).fetch(&cx.db()).await?;
    let rows: Vec<store::agents::AgentRow<'_>> = page.rows()?;
    let items = rows.iter().map(|row| {
        let rendered = [row.kept, row.card.unwrap_or(model::Card::NO_CARD_JSON)];
        (rendered, model::Presence { online: row.online })
    });
    let availability = model::Availability::of("registry", cx.environment());
    Ok(Listed::rendered(items, AgentList { total: page.total, availability })?)
}
