//! From rows to what readers get: owners get their names here, at read time.

use crate::{
    Tools,
    model::ToolState,
    store::{tool_list::ToolPage, tools::ToolRow},
};
use plugin_api::{Authors, Context, HostError, KeptJson};
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

/// 0 stands for never.
pub fn time(second: i64) -> Option<i64> {
    (second != 0).then_some(second)
}

/// A page of tools, and what is said of it.
pub async fn list<T>(cx: &Context<Tools>, page: &ToolPage, rest: &impl Serialize) -> Result<KeptJson<T>, HostError> {
    let rows: Vec<ToolRow<'_>> = page.rows.all()?;
    let authors = cx.authors(rows.iter().map(|row| row.owner)).await?;
    KeptJson::list("items", rows.iter().map(|row| (row.kept, state(row, &authors))), rest)
}
