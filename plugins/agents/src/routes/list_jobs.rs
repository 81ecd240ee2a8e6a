//! `GET /api/jobs`: jobs of all agents, newest first; filtered by client or by the owner of the agent.

use crate::{Agents, error::AddressFilterError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, format};
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
) -> Result<Listed<model::JobView, model::JobList>, HandlerError<AddressFilterError>> {
    let jobs =
        store::jobs::of_accounts(account("client", client.as_deref())?, account("agentOwner", agent_owner.as_deref())?);
    let items = store::jobs::read(&cx.db(), jobs.page(limit, offset)).await?;
    Ok(Listed::new(items, model::JobList { availability: model::Availability::of("escrow", cx.environment()) })?)
}

/// An empty filter counts as absent.
fn account(member: &'static str, text: Option<&str>) -> Result<Option<Address>, AddressFilterError> {
    text.and_then(format::given).map(str::parse).transpose().map_err(|reason| AddressFilterError { member, reason })
}
