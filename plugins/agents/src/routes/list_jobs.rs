//! `GET /api/jobs`: jobs of all agents, newest first; filtered by client or by the owner of the agent.

use super::{list_agent_jobs::JobList, render};
use crate::{
    Agents,
    error::AddressFilterError,
    model::Availability,
    store::jobs::{self, Filter},
};
use plugin_api::{Address, HandlerError, Json, JsonSchema, Page, QueryString, RequestContext, Route};
use serde::Deserialize;

pub fn route() -> Route<Agents> {
    Route::get("/api/jobs", list_jobs)
        .public()
        .cached()
        .summary("List jobs")
        .endpoint("jobs")
        .briefing("Jobs", "newest first (client, agentOwner); /{id} is one job with its transactions and validation")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct JobFilter {
    /// Who requested the job.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    client: Option<String>,
    /// Who owns its agent today.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    agent_owner: Option<String>,
}

async fn list_jobs(
    cx: RequestContext<Agents>,
    QueryString(JobFilter { client, agent_owner }): QueryString<JobFilter>,
    Page { limit, offset }: Page<500, 2000>,
) -> Result<Json<JobList>, HandlerError<AddressFilterError>> {
    let filter = Filter { client: account("client", client)?, agent_owner: account("agentOwner", agent_owner)? };
    let rows = jobs::list(&cx.db(), filter, limit, offset).await?;
    let items = rows.into_iter().map(render::job).collect();
    Ok(Json(JobList { items, availability: Availability::of("escrow", cx.environment()) }))
}

/// An empty filter counts as absent.
fn account(member: &'static str, text: Option<String>) -> Result<Option<Address>, AddressFilterError> {
    match text.as_deref().unwrap_or_default().trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|reason| AddressFilterError { member, reason }),
    }
}
