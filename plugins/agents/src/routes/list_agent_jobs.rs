//! `GET /api/agents/{id}/jobs`: the jobs of an agent, newest first. Agents poll it for open jobs.

use super::render;
use crate::{
    Agents,
    model::{AgentId, Availability, JobStatusFilter, JobView},
    store::jobs,
};
use plugin_api::{HandlerError, Json, JsonSchema, Page, Path, QueryString, RequestContext, Route, lenient};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}/jobs", list_agent_jobs).public().cached().summary("List the jobs of an agent")
}

#[derive(Deserialize, JsonSchema)]
struct StatusFilter {
    /// An unknown status filters nothing.
    #[serde(default, deserialize_with = "lenient")]
    status: JobStatusFilter,
}

/// Jobs, newest first.
#[derive(Serialize, JsonSchema)]
pub struct JobList {
    pub items: Vec<JobView>,
    #[serde(flatten)]
    pub availability: Availability,
}

async fn list_agent_jobs(
    cx: RequestContext<Agents>,
    Path(agent): Path<AgentId>,
    QueryString(StatusFilter { status }): QueryString<StatusFilter>,
    Page { limit, offset }: Page<500, 2000>,
) -> Result<Json<JobList>, HandlerError> {
    let rows = jobs::of_agent(&cx.db(), agent, status.status(), limit, offset).await?;
    let items = rows.into_iter().map(render::job).collect();
    Ok(Json(JobList { items, availability: Availability::of("escrow", cx.environment()) }))
}
