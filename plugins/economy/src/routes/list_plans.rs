//! `GET /api/streams/plans`: subscription plans, the newest first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/streams/plans", list_plans)
        .public()
        .summary("List subscription plans, the newest first")
        .endpoint("plans")
        .briefing("Plans", "what one can subscribe to; payee, active=1")
}

#[derive(Deserialize, JsonSchema)]
struct PlanFilter {
    #[schemars(with = "Option<Address>")]
    payee: Option<String>,
    /// `1` or `true`: plans that one can subscribe to.
    active: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct PlanList {
    /// How many plans match, on all pages.
    total: i64,
    /// StreamPay; null while undeployed.
    contract: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_plans(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<PlanFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::PlanView, PlanList>, HandlerError<EconomyError>> {
    let payee = filter::address("payee", query.payee.as_deref())?;
    let only_active = filter::flag(query.active.as_deref());
    let db = cx.db();
    let page = store::plans::plans(payee, only_active).page(limit, offset).fetch(&db).await?;
    let mut items: Vec<model::PlanView> = page.rows()?;
    let active_subs = store::subs::count_active_of(&db, items.iter().map(|plan| plan.id), cx.now_s()).await?;
    for plan in &mut items {
        plan.active_subs = active_subs.get(&plan.id).copied().unwrap_or_default();
    }
    let (contract, undeployed) = deployment(&cx, model::contracts::STREAM_PAY);
    Ok(Listed::new(items, PlanList { total: page.total, contract, undeployed })?)
}
