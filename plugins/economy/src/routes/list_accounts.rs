//! `GET /api/accounts`: accounts that the factory created, the latest first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{
    Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, contracts::account_factory,
};
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
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::AccountView, AccountList>, HandlerError<EconomyError>> {
    let owner = filter::address("owner", query.owner.as_deref())?;
    let page = store::accounts::accounts(owner).page(limit, offset).fetch(&cx.db()).await?;
    let (factory, undeployed) = deployment(&cx, account_factory::CONTRACT);
    let implementation = cx.environment().contract(model::contracts::ACCOUNT_IMPL);
    Ok(Listed::new(page.rows()?, AccountList { total: page.total, factory, implementation, undeployed })?)
}
