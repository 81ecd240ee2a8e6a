//! `GET /api/agents/{id}`: an agent, its validations, and links to more.

use crate::{
    Agents,
    error::UnknownRecord,
    model::{AgentDetail, AgentId, AgentLinks, CvLinks, ValidationSummary},
    store::{agents, validations},
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};
use serde::Serialize;

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

/// The members that are not in the rows' rendered JSON.
#[derive(Serialize)]
struct Rest<'l> {
    online: bool,
    validation: ValidationSummary,
    cv: CvLinks<'l>,
    links: &'l AgentLinks,
}

async fn get_agent(
    cx: RequestContext<Agents>,
    Path(id): Path<AgentId>,
) -> Result<RenderedJson<AgentDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let found = agents::find(&db, id).await?;
    let (agent, is_judged) = found.row()?.ok_or(UnknownRecord::Agent(id))?;
    let newest = if is_judged { validations::newest(&db, id).await? } else { Vec::new() };
    let validation = ValidationSummary::of(newest);
    let base_url = &cx.environment().base_url;
    let links = AgentLinks::new(base_url, id);
    let cv = CvLinks::new(base_url, id, agent.more, &links);
    let rest = Rest { online: agent.online, validation, cv, links: &links };
    Ok(RenderedJson::object(agent.kept, &rest)?)
}
