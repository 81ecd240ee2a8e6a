//! `GET /api/tokens`: tokens of agents, the latest launch first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, TOKEN_FACTORY, Undeployed},
    error::EconomyError,
    filter,
    model::TokenView,
    store::tokens,
};
use plugin_api::{Address, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/tokens", list_tokens)
        .public()
        .cached()
        .summary("List agent tokens, the latest launch first")
        .endpoint("tokens")
        .briefing("Agent tokens", "tokens of agents and what was paid for them; agentId")
        .example("GET /api/tokens?agentId=7")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TokenFilter {
    #[schemars(with = "Option<u64>")]
    agent_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct TokenList {
    items: Vec<TokenView>,
    /// How many tokens match, on all pages.
    total: i64,
    /// AgentTokenFactory; null while undeployed.
    contract: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_tokens(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<TokenFilter>,
    page: ListPage,
) -> Result<Json<TokenList>, HandlerError<EconomyError>> {
    let agent = filter::id("agentId", query.agent_id.as_deref())?;
    let (items, total) = tokens::list(&cx.db(), agent, window(page)).await?;
    let (contract, undeployed) = deployment::of(&cx, TOKEN_FACTORY);
    Ok(Json(TokenList { items, total, contract, undeployed }))
}
