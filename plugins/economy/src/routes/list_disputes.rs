//! `GET /api/disputes`: cases of the arbiter pool with their evidence, the newest first.

use super::{ListPage, window};
use crate::{
    Economy,
    deployment::{self, ARBITER_POOL, Undeployed},
    error::EconomyError,
    filter,
    model::{CaseStatus, DisputeView, EvidenceView},
    store::disputes::{self, CaseRow, Filter},
};
use plugin_api::{Address, Authors, HandlerError, Json, JsonSchema, QueryString, RequestContext, Route};
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
    #[schemars(with = "Option<CaseStatus>")]
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
    items: Vec<DisputeView>,
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
    page: ListPage,
) -> Result<Json<DisputeList>, HandlerError<EconomyError>> {
    let filter = Filter {
        status: filter::status(query.status.as_deref(), "open, closed", CaseStatus::read)?,
        open: filter::present(query.open.as_deref()).and_then(is_open),
        job_id: filter::id("jobId", query.job_id.as_deref())?,
        opener: filter::address("opener", query.opener.as_deref())?,
    };
    let db = cx.db();
    let (rows, total) = disputes::list(&db, filter, window(page)).await?;
    let evidence = disputes::evidence_of(&db, rows.iter().map(|row| row.id)).await?;
    let authors = cx.authors(rows.iter().map(|row| row.opener)).await?;
    let items = rows.into_iter().map(|row| view(row, &evidence, &authors)).collect();
    let (contract, undeployed) = deployment::of(&cx, ARBITER_POOL);
    Ok(Json(DisputeList { items, total, contract, undeployed }))
}

/// `None` for any other word: it filters nothing.
fn is_open(text: &str) -> Option<bool> {
    match text {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

fn view(row: CaseRow, evidence: &[EvidenceView], authors: &Authors) -> DisputeView {
    let evidence = evidence.iter().filter(|evidence| evidence.case_id == row.id).cloned().collect();
    DisputeView {
        id: row.id,
        job_id: row.job_id,
        opener: authors.get(row.opener),
        evidence_uri: row.evidence_uri,
        opened_at: row.opened_at,
        votes: row.votes,
        closed: row.closed,
        status: CaseStatus::of(row.closed),
        result: row.result,
        closed_at: row.closed_at,
        tx_opened: Some(row.tx_opened),
        updated_at_block: row.updated_at_block,
        agent_id: row.agent_id,
        client: row.client,
        evidence,
    }
}
