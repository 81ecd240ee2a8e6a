//! `GET /api/streams/subs`: subscriptions, the newest first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/streams/subs", list_subs)
        .public()
        .summary("List subscriptions, the newest first")
        .endpoint("subs")
        .briefing("Subscriptions", "who subscribed; payer, planId, active=1")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SubFilter {
    #[schemars(with = "Option<Address>")]
    payer: Option<String>,
    #[schemars(with = "Option<u64>")]
    plan_id: Option<String>,
    /// `1` or `true`: subscriptions that are paid and not cancelled.
    active: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SubList {
    /// How many subscriptions match, on all pages.
    total: i64,
    /// The gateway's clock, unix seconds: what is active is so at this time.
    now: i64,
    /// StreamPay; null while undeployed.
    contract: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_subs(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<SubFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::SubView, SubList>, HandlerError<EconomyError>> {
    let payer = filter::address("payer", query.payer.as_deref())?;
    let plan_id = filter::id("planId", query.plan_id.as_deref())?;
    let now = cx.now_s();
    let active_at = filter::flag(query.active.as_deref()).then_some(now);
    let page = store::subs::subs(payer, plan_id, active_at).page(limit, offset).fetch(&cx.db()).await?;
    let items = page.rows::<model::SubView>()?.into_iter().map(|sub| sub.at(now)).collect();
    let (contract, undeployed) = deployment(&cx, model::contracts::STREAM_PAY);
    Ok(Listed::new(items, SubList { total: page.total, now, contract, undeployed })?)
}
