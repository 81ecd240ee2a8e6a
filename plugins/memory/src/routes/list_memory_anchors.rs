//! `GET /api/memory/anchors`: batches of all agents, the newest first. No key and no value is in them.

use crate::{
    Memory,
    error::MemoryError,
    model::{BatchStatus, BatchView, Deployment, VerifyTexts},
    store,
};
use plugin_api::{
    Address, AgentId, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, format,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Memory> {
    Route::get("/api/memory/anchors", list_memory_anchors)
        .public()
        .summary("List batches of records and their anchors, the newest first")
        .endpoint("memoryAnchors")
        .example("GET /api/memory/anchors?agentId=1&status=anchored")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AnchorFilter {
    #[schemars(with = "Option<i64>")]
    agent_id: Option<String>,
    /// Whose records they are.
    #[schemars(with = "Option<Address>")]
    address: Option<String>,
    /// `built`, `submitted` or `anchored`.
    #[schemars(with = "Option<BatchStatus>")]
    status: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AnchorList {
    /// How many batches match, on all pages.
    total: i64,
    #[serde(flatten)]
    deployment: Deployment,
    verify: VerifyTexts,
}

async fn list_memory_anchors(
    cx: RequestContext<Memory>,
    QueryString(query): QueryString<AnchorFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<BatchView, AnchorList>, HandlerError<MemoryError>> {
    let given = |text: &Option<String>| text.as_deref().and_then(format::given).map(str::to_owned);
    let agent = given(&query.agent_id).map(|text| agent_of(&text)).transpose()?;
    let address = given(&query.address).map(|text| text.parse::<Address>()).transpose();
    let address = address.map_err(|reason| MemoryError::Filter { filter: "address", reason })?;
    let status = given(&query.status).map(|text| status_of(&text)).transpose()?;
    let page = store::batches::list(agent, address, status).page(limit, offset).fetch(&cx.db()).await?;
    let deployment = Deployment::of(cx.environment());
    let list = AnchorList { total: page.total, deployment, verify: VerifyTexts::ALL };
    Ok(Listed::new(page.rows()?, list)?)
}

fn agent_of(text: &str) -> Result<AgentId, MemoryError> {
    let reason = "an id is a positive whole number";
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0');
    // An id above the maximum is valid; it finds nothing.
    if is_number {
        Ok(AgentId(text.parse().unwrap_or(i64::MAX)))
    } else {
        Err(MemoryError::Filter { filter: "agentId", reason })
    }
}

fn status_of(text: &str) -> Result<BatchStatus, MemoryError> {
    match text {
        "built" => Ok(BatchStatus::Built),
        "submitted" => Ok(BatchStatus::Submitted),
        "anchored" => Ok(BatchStatus::Anchored),
        _ => Err(MemoryError::Filter { filter: "status", reason: "one of built, submitted, anchored is needed" }),
    }
}
