//! `GET /api/disputes`: cases of the arbiter pool with their evidence, the newest first.

use super::{Undeployed, deployment, filter};
use crate::{Economy, error::EconomyError, model, store};
use plugin_api::{Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Economy> {
    Route::get("/api/disputes", list_disputes)
        .public()
        .cached()
        .summary("List disputes with their evidence, the newest first")
        .endpoint("disputes")
        .briefing("Disputes", "cases about jobs with their evidence; status (open, closed), jobId, opener")
        .example("GET /api/disputes?status=open")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DisputeFilter {
    /// `open` or `closed`.
    #[schemars(with = "Option<model::CaseStatus>")]
    status: Option<String>,
    /// `1`: open cases; `0`: closed ones.
    open: Option<String>,
    #[schemars(with = "Option<u64>")]
    job_id: Option<String>,
    #[schemars(with = "Option<Address>")]
    opener: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct DisputeList {
    /// How many cases match, on all pages.
    total: i64,
    /// ArbiterPool; null while undeployed.
    contract: Option<Address>,
    #[serde(flatten)]
    undeployed: Option<Undeployed>,
}

async fn list_disputes(
    cx: RequestContext<Economy>,
    QueryString(query): QueryString<DisputeFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::DisputeView, DisputeList>, HandlerError<EconomyError>> {
    let status = filter::status(query.status.as_deref(), "open, closed")?;
    let open = match filter::present(query.open.as_deref()) {
        Some("1" | "true") => Some(true),
        Some("0" | "false") => Some(false),
        // Any other word filters nothing.
        _ => None,
    };
    let job_id = filter::id("jobId", query.job_id.as_deref())?;
    let opener = filter::address("opener", query.opener.as_deref())?;
    let db = cx.db();
    let page = store::disputes::disputes(status, open, job_id, opener).page(limit, offset).fetch(&db).await?;
    let mut items = page.rows()?;
    store::disputes::add_evidence(&db, &mut items).await?;
    let (contract, undeployed) = deployment(&cx, model::contracts::ARBITER_POOL);
    Ok(Listed::new(items, DisputeList { total: page.total, contract, undeployed })?)
}
