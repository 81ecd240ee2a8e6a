//! Converts rows to response types and adds the names of owners at read time.

use crate::{
    Tools,
    model::ToolState,
    store::{tool_list::ToolPage, tools::ToolRow},
};
use plugin_api::{Authors, HostError, RenderedJson, RequestContext};
use serde::Serialize;

pub fn state(row: &ToolRow<'_>, authors: &Authors) -> ToolState {
    ToolState {
        id: row.id,
        owner: authors.get(row.owner),
        online: row.online,
        last_seen: time(row.seen_at),
        last_probe_at: time(row.probed_at),
    }
}

/// 0 means never.
pub fn time(second: i64) -> Option<i64> {
    (second != 0).then_some(second)
}

/// Renders a page of tools and the list's own members.
pub async fn list<T>(
    cx: &RequestContext<Tools>,
    page: &ToolPage,
    rest: &impl Serialize,
) -> Result<RenderedJson<T>, HostError> {
    let rows: Vec<ToolRow<'_>> = page.rows.all()?;
    let authors = cx.authors(rows.iter().map(|row| row.owner)).await?;
    RenderedJson::list("items", rows.iter().map(|row| (row.kept, state(row, &authors))), rest)
}
