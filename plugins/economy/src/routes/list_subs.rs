//! `GET /api/streams/subs`: subscriptions, the newest first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, STREAM_PAY, Undeployed},
    error::EconomyError,
    filter,
    model::SubView,
    store::subs::{self, Filter, SubRow},
};
use plugin_api::{Address, Authors, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
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
    items: Vec<SubView>,
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
    page: ListPage,
) -> Result<Json<SubList>, HandlerError<EconomyError>> {
    let filter = Filter {
        payer: filter::address("payer", query.payer.as_deref())?,
        plan_id: filter::id("planId", query.plan_id.as_deref())?,
        only_active: filter::flag(query.active.as_deref()),
    };
    let now = cx.now_s();
    let (rows, total) = subs::list(&cx.db(), filter, now, window(page)).await?;
    let authors = cx.authors(rows.iter().flat_map(|row| std::iter::once(row.payer).chain(row.payee))).await?;
    let items = rows.into_iter().map(|row| view(row, now, &authors)).collect();
    let (contract, undeployed) = deployment::of(&cx, STREAM_PAY);
    Ok(Json(SubList { items, total, now, contract, undeployed }))
}

fn view(row: SubRow, now_s: i64, authors: &Authors) -> SubView {
    SubView {
        id: row.id,
        plan_id: row.plan_id,
        payer: authors.get(row.payer),
        payee: row.payee.map(|payee| authors.get(payee)),
        price_per_period: row.price_per_period,
        period: row.period_s,
        paid_through: row.paid_through_s,
        cancelled: row.cancelled,
        active: !row.cancelled && row.paid_through_s > now_s,
        created_at: row.created_at,
        updated_at_block: row.updated_at_block,
    }
}
