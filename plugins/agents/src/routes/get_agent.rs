//! `GET /api/agents/{id}`: an agent, what validators say of it, and where to read more.

use super::render;
use crate::{
    Agents,
    error::Unknown,
    model::{AgentDetail, AgentId, AgentLinks, CvLinks, ValidationSummary},
    store::{agents, validations},
};
use plugin_api::{Context, Failure, Json, Path, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

async fn get_agent(cx: Context<Agents>, Path(id): Path<AgentId>) -> Result<Json<AgentDetail>, Failure<Unknown>> {
    let db = cx.db();
    let (row, extra) = agents::find(&db, id).await?.ok_or(Unknown::Agent(id))?;
    let validation = ValidationSummary::of(validations::newest(&db, id).await?);
    let base_url = &cx.environment().base_url;
    let (cv, links) = (CvLinks::new(base_url, id, &extra.slug), AgentLinks::new(base_url, id));
    Ok(Json(AgentDetail { agent: render::agent(row), validation, cv, links }))
}
