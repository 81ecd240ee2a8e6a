//! `GET /api/compute/{id}`: one listing. A tool of another kind is none.

use super::render;
use crate::{
    Tools,
    error::ToolsError,
    model::{ComputeView, ToolId},
    store::tools::{self, ToolRow},
};
use plugin_api::{Context, Failure, KeptJson, Path, Route};

pub fn route() -> Route<Tools> {
    Route::get("/api/compute/{id}", get_compute).public().cached().summary("Read a listing of compute")
}

async fn get_compute(
    cx: Context<Tools>,
    Path(tool): Path<ToolId>,
) -> Result<KeptJson<ComputeView>, Failure<ToolsError>> {
    let outcome = tools::find_compute(&cx.db(), tool).await?;
    let row: ToolRow<'_> = outcome.first()?.ok_or(ToolsError::UnknownCompute { tool })?;
    let authors = cx.authors([row.owner]).await?;
    Ok(KeptJson::object(row.kept, &render::state(&row, &authors))?)
}
