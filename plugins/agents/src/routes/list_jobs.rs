//! `GET /api/jobs`: jobs of all agents, newest first; filtered by client or by the owner of the agent.

use crate::{
    Agents,
    error::AddressFilterError,
    model::{Availability, JobList, JobView},
    store::jobs,
};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
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
) -> Result<Listed<JobView, JobList>, HandlerError<AddressFilterError>> {
    let jobs = jobs::of_accounts(account("client", client)?, account("agentOwner", agent_owner)?);
    let items = jobs::read(&cx.db(), jobs.page(limit, offset)).await?;
    Ok(Listed::new(items, JobList { availability: Availability::of("escrow", cx.environment()) })?)
}

/// An empty filter counts as absent.
fn account(member: &'static str, text: Option<String>) -> Result<Option<Address>, AddressFilterError> {
    match text.as_deref().unwrap_or_default().trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|reason| AddressFilterError { member, reason }),
    }
}
