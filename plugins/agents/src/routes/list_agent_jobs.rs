//! `GET /api/agents/{id}/jobs`: the jobs of an agent, newest first. Agents poll it for open jobs.

use crate::{Agents, model, store};
use plugin_api::{AgentId, HandlerError, JsonSchema, Listed, Page, Path, QueryString, RequestContext, Route};
use serde::Deserialize;

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}/jobs", list_agent_jobs).public().cached().summary("List the jobs of an agent")
}

#[derive(Deserialize, JsonSchema)]
struct StatusFilter {
    /// An unknown status filters nothing.
    #[serde(default, deserialize_with = "model::status_filter")]
    #[schemars(
        with = "String",
        extend("enum" = ["open", "delivered", "completed", "refunded", "disputed", "resolved"])
    )]
    status: Option<model::JobStatus>,
}

async fn list_agent_jobs(
    cx: RequestContext<Agents>,
    Path(agent): Path<AgentId>,
    QueryString(StatusFilter { status }): QueryString<StatusFilter>,
    Page { limit, offset }: Page<500, 2000>,
) -> Result<Listed<model::JobView, model::JobList>, HandlerError> {
    let items = store::jobs::read(&cx.db(), store::jobs::of_agent(agent, status).page(limit, offset)).await?;
    Ok(Listed::new(items, model::JobList { availability: model::Availability::of("escrow", cx.environment()) })?)
}
