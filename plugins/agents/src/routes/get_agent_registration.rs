//! `GET /api/agents/{id}/erc8004.json`: the agent's registration file, to which the identity registry points.

use crate::{
    Agents,
    error::Unknown,
    model::{AgentId, Registration, Subject},
    store::agents,
};
use plugin_api::{Context, Failure, Json, Path, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/agents/{id}/erc8004.json", get_agent_registration)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .summary("The registration file of an agent (ERC-8004)")
}

async fn get_agent_registration(
    cx: Context<Agents>,
    Path(id): Path<AgentId>,
) -> Result<Json<Registration>, Failure<Unknown>> {
    let (row, extra) = agents::find(&cx.db(), id).await?.ok_or(Unknown::Agent(id))?;
    let subject = Subject {
        id,
        owner: row.owner,
        name: row.name,
        endpoint: row.endpoint,
        status: row.status,
        price_per_job: row.price_per_job,
        description: row.description,
        image: extra.image,
        capabilities: row.capabilities,
        model: row.model,
        price_per_call: row.price_per_call,
    };
    Ok(Json(Registration::new(subject, cx.environment())))
}
