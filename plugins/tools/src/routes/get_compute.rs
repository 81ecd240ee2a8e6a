//! `GET /api/compute/{id}`: one listing; 404 for a tool of another kind.

use crate::{Tools, error::ToolsError, model, store};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/compute/{id}", get_compute).public().cached().summary("Read a listing of compute")
}

async fn get_compute(
    cx: RequestContext<Tools>,
    Path(tool): Path<model::ToolId>,
) -> Result<RenderedJson<model::ComputeView>, HandlerError<ToolsError>> {
    let stored = store::tools::find_compute(&cx.db(), tool).await?;
    let state: model::ToolState<'_> = stored.first()?.ok_or(ToolsError::UnknownCompute { tool })?;
    Ok(RenderedJson::object(state.rendered, &state)?)
}
