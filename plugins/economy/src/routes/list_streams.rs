//! `GET /api/streams`: payment streams, the newest first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, STREAM_PAY, Undeployed},
    error::EconomyError,
    filter,
    model::{self, StreamStatus, StreamView},
    store::streams::{self, Filter, StreamRow},
};
use plugin_api::{Address, Authors, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route, Wei};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/streams", list_streams)
        .public()
        .summary("List payment streams, the newest first")
        .endpoint("streams")
        .briefing("Streams", "money by the second; payer, payee, status (open, ended, cancelled)")
        .example("GET /api/streams?status=open")
}

#[derive(Deserialize, JsonSchema)]
struct StreamFilter {
    #[schemars(with = "Option<Address>")]
    payer: Option<String>,
    #[schemars(with = "Option<Address>")]
    payee: Option<String>,
    /// `open`, `ended` or `cancelled`.
    #[schemars(with = "Option<StreamStatus>")]
    status: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct StreamList {
    items: Vec<StreamView>,
    /// How many streams match, on all pages.
    total: i64,
    /// The gateway's clock, unix seconds: status and claimable amounts are those of this time.
    now: i64,
    /// StreamPay; null while undeployed.
    contract: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_streams(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<StreamFilter>,
    page: ListPage,
) -> Result<Json<StreamList>, HandlerError<EconomyError>> {
    let filter = Filter {
        payer: filter::address("payer", query.payer.as_deref())?,
        payee: filter::address("payee", query.payee.as_deref())?,
        status: filter::status(query.status.as_deref(), "open, ended, cancelled", StreamStatus::read)?,
    };
    let now = cx.now_s();
    let (rows, total) = streams::list(&cx.db(), filter, now, window(page)).await?;
    let authors = cx.authors(rows.iter().flat_map(|row| [row.payer, row.payee])).await?;
    let items = rows.into_iter().map(|row| view(row, now, &authors)).collect();
    let (contract, undeployed) = deployment::of(&cx, STREAM_PAY);
    Ok(Json(StreamList { items, total, now, contract, undeployed }))
}

fn view(row: StreamRow, now_s: i64, authors: &Authors) -> StreamView {
    let status = model::status(row.cancelled, row.stop_s, now_s);
    StreamView {
        id: row.id,
        payer: authors.get(row.payer),
        payee: authors.get(row.payee),
        rate_per_sec: row.rate_per_sec,
        deposit: row.deposit,
        claimed: row.claimed,
        claimable: if row.cancelled { Wei::ZERO } else { model::claimable(row.flow(), now_s) },
        start: row.start_s,
        stop: row.stop_s,
        cancelled: row.cancelled,
        tx_opened: Some(row.tx_opened),
        updated_at_block: row.updated_at_block,
        status,
    }
}
