//! `GET /api/agents/{id}/erc8004.json`: the agent's registration file, to which the identity registry points.

use crate::{
    Agents,
    error::UnknownRecord,
    model::{Registration, ServedDocuments},
    store::agents,
};
use plugin_api::{AgentId, HandlerError, Json, Path, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}/erc8004.json", get_agent_registration)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .summary("The registration file of an agent (ERC-8004)")
        .endpoint("erc8004")
}

async fn get_agent_registration(
    cx: RequestContext<Agents>,
    Path(id): Path<AgentId>,
) -> Result<Json<Registration>, HandlerError<UnknownRecord>> {
    let subject = agents::subject(&cx.db(), id).await?.ok_or(UnknownRecord::Agent(id))?;
    let served = ServedDocuments::read(&cx).await?;
    Ok(Json(Registration::new(subject, cx.environment(), served)))
}
