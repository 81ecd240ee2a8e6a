//! `GET /api/tools`: tools by text, kind and owner, online ones first.

use crate::{Tools, error::ToolsError, model, store};
use plugin_api::{
    Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, SearchIndex,
};
use serde::Deserialize;

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

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ToolFilter {
    /// A part of name, description or URL; ASCII letters match in either case.
    q: String,
    /// `mcp`, `http`, `a2a` or `compute`.
    kind: String,
    /// Address of the owner, in any case.
    owner: String,
    /// `1` or `true`: only tools whose last probe succeeded.
    online: model::OnlineOnly,
}

async fn list_tools(
    cx: RequestContext<Tools>,
    QueryString(query): QueryString<ToolFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::ToolView>, HandlerError<ToolsError>> {
    let kind = model::parse_given(&query.kind, model::ToolKind::parse)?;
    let owner: Option<Address> = model::parse_given(&query.owner, |text| text.parse().map_err(ToolsError::Owner))?;
    let search = Search::new(&cx, &query.q);
    let is_counted = owner.is_none() && search.is_none();
    let page = store::tools::TOOLS
        .filter_if(query.online.0, "online = 1")
        .filter("kind = {}", kind)
        .filter("owner = {}", owner)
        .search(search, "id", &SearchIndex::new("tools_tools", &["name", "description", "url"]))
        .stored_total(is_counted.then(|| store::tools::stored_total(kind, query.online.0)))
        .page(limit, offset)
        .fetch(&cx.db())
        .await?;
    let rows: Vec<model::ToolState<'_>> = page.rows()?;
    Ok(Listed::rendered(rows.iter().map(|row| (row.rendered, row)), page.total)?)
}
