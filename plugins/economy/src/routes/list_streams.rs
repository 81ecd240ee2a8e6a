//! `GET /api/streams`: payment streams, the newest first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
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
    #[schemars(with = "Option<model::StreamStatus>")]
    status: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct StreamList {
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
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::StreamView, StreamList>, HandlerError<EconomyError>> {
    let payer = filter::address("payer", query.payer.as_deref())?;
    let payee = filter::address("payee", query.payee.as_deref())?;
    let status = filter::status(query.status.as_deref(), "open, ended, cancelled")?;
    let now = cx.now_s();
    let page = store::streams::streams(payer, payee, status, now).page(limit, offset).fetch(&cx.db()).await?;
    let items = page.rows::<model::StreamView>()?.into_iter().map(|stream| stream.at(now)).collect();
    let (contract, undeployed) = deployment(&cx, model::contracts::STREAM_PAY);
    Ok(Listed::new(items, StreamList { total: page.total, now, contract, undeployed })?)
}
