//! `GET /api/accounts`: accounts that the factory created, the latest first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, ACCOUNT_FACTORY, ACCOUNT_IMPL, Undeployed},
    error::EconomyError,
    filter,
    model::AccountView,
    store::accounts,
};
use plugin_api::{Address, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/accounts", list_accounts)
        .public()
        .cached()
        .summary("List agent accounts, the latest first")
        .endpoint("agentAccounts")
        .briefing("Agent accounts", "wallets that are contracts; owner")
}

#[derive(Deserialize, JsonSchema)]
struct AccountFilter {
    #[schemars(with = "Option<Address>")]
    owner: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AccountList {
    items: Vec<AccountView>,
    /// How many accounts match, on all pages.
    total: i64,
    /// AgentAccountFactory; null while undeployed.
    factory: Option<Address>,
    /// What accounts are clones of; null while undeployed.
    implementation: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_accounts(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<AccountFilter>,
    page: ListPage,
) -> Result<Json<AccountList>, HandlerError<EconomyError>> {
    let owner = filter::address("owner", query.owner.as_deref())?;
    let (items, total) = accounts::list(&cx.db(), owner, window(page)).await?;
    let (factory, undeployed) = deployment::of(&cx, ACCOUNT_FACTORY);
    let (implementation, _) = deployment::of(&cx, ACCOUNT_IMPL);
    Ok(Json(AccountList { items, total, factory, implementation, undeployed }))
}
