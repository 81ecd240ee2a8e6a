//! `GET /api/tools/{id}`: one tool.

use crate::{
    Tools,
    error::ToolsError,
    model::{ToolId, ToolState, ToolView},
    store::tools,
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/tools/{id}", get_tool).public().cached().summary("Read a tool")
}

async fn get_tool(
    cx: RequestContext<Tools>,
    Path(tool): Path<ToolId>,
) -> Result<RenderedJson<ToolView>, HandlerError<ToolsError>> {
    let stored = tools::find(&cx.db(), tool).await?;
    let state: ToolState<'_> = stored.first()?.ok_or(ToolsError::UnknownTool { tool })?;
    Ok(RenderedJson::object(state.rendered, &state)?)
}
