//! `GET /api/streams/plans`: subscription plans, the newest first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, STREAM_PAY, Undeployed},
    error::EconomyError,
    filter,
    model::PlanView,
    store::{
        plans::{self, Filter, PlanRow},
        subs,
    },
};
use plugin_api::{Address, Authors, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
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
    items: Vec<PlanView>,
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
    page: ListPage,
) -> Result<Json<PlanList>, HandlerError<EconomyError>> {
    let filter = Filter {
        payee: filter::address("payee", query.payee.as_deref())?,
        only_active: filter::flag(query.active.as_deref()),
    };
    let db = cx.db();
    let (rows, total) = plans::list(&db, filter, window(page)).await?;
    let active = subs::count_active_of(&db, rows.iter().map(|row| row.id), cx.now_s()).await?;
    let authors = cx.authors(rows.iter().map(|row| row.payee)).await?;
    let active_subs = |row: &PlanRow| active.get(&row.id).copied().unwrap_or_default();
    let items = rows.into_iter().map(|row| view(active_subs(&row), row, &authors)).collect();
    let (contract, undeployed) = deployment::of(&cx, STREAM_PAY);
    Ok(Json(PlanList { items, total, contract, undeployed }))
}

fn view(active_subs: i64, row: PlanRow, authors: &Authors) -> PlanView {
    let PlanRow { id, payee, price_per_period, period_s, active, metadata_uri, created_at, updated_at_block } = row;
    let (payee, period) = (authors.get(payee), period_s);
    PlanView { id, payee, price_per_period, period, active, metadata_uri, created_at, updated_at_block, active_subs }
}
