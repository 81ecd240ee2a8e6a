//! `GET /api/agents/{id}`: an agent, its validations, and links to more.

use crate::{Agents, error::UnknownRecord, model, store};
use plugin_api::{AgentId, HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}", get_agent).public().cached().summary("One agent")
}

async fn get_agent(
    cx: RequestContext<Agents>,
    Path(id): Path<AgentId>,
) -> Result<RenderedJson<model::AgentDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let agent = store::agents::find(&db, id).await?.ok_or(UnknownRecord::Agent(id))?;
    let newest = if agent.is_judged { store::validations::newest(&db, id).await? } else { Vec::new() };
    let uptime = store::cards::uptime(&db, id).await?;
    let base_url = &cx.environment().base_url;
    let served = model::ServedDocuments::read(&cx).await?;
    let links = model::AgentLinks::new(base_url, id, served);
    let cv = model::CvLinks::new(base_url, id, &agent.slug, &links, served);
    let (presence, validation) = (model::Presence { online: agent.online }, model::ValidationSummary::of(newest));
    let rendered = [agent.kept.as_str(), agent.card.as_deref().unwrap_or(model::Card::NO_CARD_JSON)];
    Ok(RenderedJson::object(rendered, &model::DetailState { presence, validation, uptime, cv, links: &links })?)
}
