//! `GET /api/tools`: tools by text, kind and owner, online ones first.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{ToolFilter, ToolView},
    store::tool_list::{self, Filter},
};
use plugin_api::{HandlerError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search};
use serde::Serialize;

pub fn route() -> Route<Tools> {
    Route::get("/api/tools", list_tools)
        .public()
        .cached()
        .summary("List and search tools, online ones first")
        .endpoint("tools")
        .briefing(
            "Tools",
            "online first (q, kind=mcp|http|a2a|compute, owner, online=1); POST a signed tool.publish to publish \
             one, again to update it",
        )
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct ToolList {
    items: Vec<ToolView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
    /// How many tools match, on all pages.
    total: i64,
}

async fn list_tools(
    cx: RequestContext<Tools>,
    QueryString(query): QueryString<ToolFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<RenderedJson<ToolList>, HandlerError<ToolsError>> {
    let columns: &[&str] = &["name", "description", "url"];
    let filter = Filter {
        searches: Search::new(&cx, &query.q).map(|search| (search, columns)).into_iter().collect(),
        kind: query.kind()?,
        owner: query.owner()?,
        online_only: query.online.0,
        ..Filter::default()
    };
    let page = tool_list::list(&cx.db(), &filter, limit, offset).await?;
    Ok(render::list(&cx, &page, &Rest { total: page.total }).await?)
}
