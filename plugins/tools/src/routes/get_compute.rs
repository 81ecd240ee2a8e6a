//! `GET /api/compute/{id}`: one listing; 404 for a tool of another kind.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{ComputeView, ToolId},
    store::tools::{self, ToolRow},
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/compute/{id}", get_compute).public().cached().summary("Read a listing of compute")
}

async fn get_compute(
    cx: RequestContext<Tools>,
    Path(tool): Path<ToolId>,
) -> Result<RenderedJson<ComputeView>, HandlerError<ToolsError>> {
    let outcome = tools::find_compute(&cx.db(), tool).await?;
    let row: ToolRow<'_> = outcome.first()?.ok_or(ToolsError::UnknownCompute { tool })?;
    let authors = cx.authors([row.owner]).await?;
    Ok(RenderedJson::object(row.kept, &render::state(&row, &authors))?)
}
