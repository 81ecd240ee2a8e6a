//! `GET /api/agents/{id}`: an agent, what validators say of it, and where to read more.

use crate::{
    Agents,
    error::Unknown,
    model::{AgentDetail, AgentId, AgentLinks, CvLinks, MoreOfAgent, Presence, ValidationSummary},
    store::{agents, validations},
};
use plugin_api::{Context, Failure, KeptJson, Path, Route};
use serde::Serialize;

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

/// Everything but what rows keep.
#[derive(Serialize)]
struct Rest {
    #[serde(flatten)]
    presence: Presence,
    #[serde(flatten)]
    more: MoreOfAgent,
}

async fn get_agent(cx: Context<Agents>, Path(id): Path<AgentId>) -> Result<KeptJson<AgentDetail>, Failure<Unknown>> {
    let db = cx.db();
    let found = agents::find(&db, id).await?;
    let agent = found.row()?.ok_or(Unknown::Agent(id))?;
    let validation = ValidationSummary::of(validations::newest(&db, id).await?);
    let base_url = &cx.environment().base_url;
    let (cv, links) = (CvLinks::new(base_url, id, agent.more), AgentLinks::new(base_url, id));
    let rest = Rest { presence: Presence { online: agent.online }, more: MoreOfAgent { validation, cv, links } };
    Ok(KeptJson::object(agent.kept, &rest)?)
}
