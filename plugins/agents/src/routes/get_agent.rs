//! `GET /api/agents/{id}`: an agent, what validators say of it, and where to read more.

use crate::{
    Agents,
    error::Unknown,
    model::{AgentDetail, AgentId, AgentLinks, CvLinks, ValidationSummary},
    store::{agents, validations},
};
use plugin_api::{Context, Failure, KeptJson, Path, Route};
use serde::Serialize;

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

/// Everything but what rows keep.
#[derive(Serialize)]
struct Rest<'l> {
    online: bool,
    validation: ValidationSummary,
    cv: CvLinks<'l>,
    links: &'l AgentLinks,
}

async fn get_agent(cx: Context<Agents>, Path(id): Path<AgentId>) -> Result<KeptJson<AgentDetail>, Failure<Unknown>> {
    let db = cx.db();
    let found = agents::find(&db, id).await?;
    let (agent, is_judged) = found.row()?.ok_or(Unknown::Agent(id))?;
    let newest = if is_judged { validations::newest(&db, id).await? } else { Vec::new() };
    let validation = ValidationSummary::of(newest);
    let base_url = &cx.environment().base_url;
    let links = AgentLinks::new(base_url, id);
    let cv = CvLinks::new(base_url, id, agent.more, &links);
    let rest = Rest { online: agent.online, validation, cv, links: &links };
    Ok(KeptJson::object(agent.kept, &rest)?)
}
