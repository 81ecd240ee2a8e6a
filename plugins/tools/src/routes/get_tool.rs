//! `GET /api/tools/{id}`: one tool.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{ToolId, ToolView},
    store::tools::{self, ToolRow},
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/tools/{id}", get_tool).public().cached().summary("Read a tool")
}

async fn get_tool(
    cx: RequestContext<Tools>,
    Path(tool): Path<ToolId>,
) -> Result<RenderedJson<ToolView>, HandlerError<ToolsError>> {
    let outcome = tools::find(&cx.db(), tool).await?;
    let row: ToolRow<'_> = outcome.first()?.ok_or(ToolsError::UnknownTool { tool })?;
    let authors = cx.authors([row.owner]).await?;
    Ok(RenderedJson::object(row.kept, &render::state(&row, &authors))?)
}
