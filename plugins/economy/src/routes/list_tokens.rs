//! `GET /api/tokens`: tokens of agents, the latest launch first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
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
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::TokenView, TokenList>, HandlerError<EconomyError>> {
    let agent_id = filter::id("agentId", query.agent_id.as_deref())?;
    let page = store::tokens::tokens(agent_id).page(limit, offset).fetch(&cx.db()).await?;
    let (contract, undeployed) = deployment(&cx, model::contracts::TOKEN_FACTORY);
    Ok(Listed::new(page.rows()?, TokenList { total: page.total, contract, undeployed })?)
}
