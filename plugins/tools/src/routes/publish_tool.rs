//! `POST /api/tools`: a tool, or the next version of one of the same owner and name.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{NewTool, ToolDraft, ToolPublished, ToolState, ToolView},
    store::tools::{self, StoredTool},
};
use plugin_api::{CreatedOrUpdated, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Tools> {
    Route::post("/api/tools", publish_tool)
        .signed("tool.publish")
        .rate_limit(RateLimit::commons_writes())
        .summary("Publish a tool, or a new version of it")
}

async fn publish_tool(
    cx: RequestContext<Tools>,
    Signed { signer, payload }: Signed<NewTool>,
) -> Result<CreatedOrUpdated<ToolView>, HandlerError<ToolsError>> {
    let draft = payload.check()?;
    check_urls(&cx, &draft).await?;
    // Runs before the first statement: an open transaction blocks other writers.
    let owner = cx.authors([signer]).await?.get(signer);
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let StoredTool { id, text, updated, online, seen_at } = tools::publish(&tx, signer, draft, now_s).await?;
    ToolPublished::of(id, &text, updated).by(signer, now_s)?.publish(&tx)?;
    let state = ToolState { id, owner, online, last_seen: render::time(seen_at), last_probe_at: None };
    Ok(CreatedOrUpdated { created: !updated, value: ToolView { text, state } })
}

/// Checks that the tool's URLs are public, by their text alone.
async fn check_urls(cx: &RequestContext<Tools>, draft: &ToolDraft) -> Result<(), HandlerError<ToolsError>> {
    for (member, url) in draft.urls() {
        if let Some(problem) = cx.check_url(url).await? {
            let message = problem.message;
            let error = if problem.code == "private_url" {
                ToolsError::PrivateUrl { member, message }
            } else {
                ToolsError::BadUrl { member, message }
            };
            return Err(error.into());
        }
    }
    Ok(())
}
