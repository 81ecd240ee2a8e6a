//! Errors of the routes: texts, statuses and codes. Those of JSON-RPC are in `model/rpc_error.rs`.

use plugin_api::{ApiError, response::ForwardError};

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum A2aError {
    #[api(
        404,
        "not_found",
        "no agent is called {0:?}",
        hint = "GET /api/agents lists the agents: their ids stand in paths as well as their names in lower case, with hyphens"
    )]
    UnknownAgent(String),
    #[api(
        503,
        "price_unavailable",
        "what a call of this agent costs cannot be read",
        hint = "its owner has to correct pricePerCall in the agent's card; repeat the call later"
    )]
    UnreadablePrice,
    #[api(transparent)]
    Forward(#[from] ForwardError),
}
