//! `GET /api/agents/{id}`: an agent, its validations, and links to more.

use crate::{
    Agents,
    error::UnknownRecord,
    model::{AgentDetail, AgentLinks, Card, CvLinks, DetailState, Presence, ValidationSummary},
    store::{agents, validations},
};
use plugin_api::{AgentId, HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

async fn get_agent(
    cx: RequestContext<Agents>,
    Path(id): Path<AgentId>,
) -> Result<RenderedJson<AgentDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let agent = agents::find(&db, id).await?.ok_or(UnknownRecord::Agent(id))?;
    let newest = if agent.is_judged { validations::newest(&db, id).await? } else { Vec::new() };
    let base_url = &cx.environment().base_url;
    let links = AgentLinks::new(base_url, id);
    let cv = CvLinks::new(base_url, id, &agent.slug, &links);
    let (presence, validation) = (Presence { online: agent.online }, ValidationSummary::of(newest));
    let rendered = [agent.kept.as_str(), agent.card.as_deref().unwrap_or(Card::NO_CARD_JSON)];
    Ok(RenderedJson::object(rendered, &DetailState { presence, validation, cv, links: &links })?)
}
