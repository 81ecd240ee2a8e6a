//! `GET /api/tools/{id}`: one tool.

use crate::{Tools, error::ToolsError, model, store};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/tools/{id}", get_tool).public().cached().summary("Read a tool")
}

async fn get_tool(
    cx: RequestContext<Tools>,
    Path(tool): Path<model::ToolId>,
) -> Result<RenderedJson<model::ToolView>, HandlerError<ToolsError>> {
    let stored = store::tools::find(&cx.db(), tool).await?;
    let state: model::ToolState<'_> = stored.first()?.ok_or(ToolsError::UnknownTool { tool })?;
    Ok(RenderedJson::object(state.rendered, &state)?)
}
