//! `GET /api/jobs/{id}`: a job, and the validation of its delivery.

use super::render;
use crate::{
    Agents,
    error::UnknownRecord,
    model::{JobDetail, JobId},
    store::{jobs, validations},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/jobs/{id}", get_job).public().cached().summary("One job")
}

async fn get_job(
    cx: RequestContext<Agents>,
    Path(id): Path<JobId>,
) -> Result<Json<JobDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let row = jobs::find(&db, id).await?.ok_or(UnknownRecord::Job(id))?;
    let validation = validations::of_job(&db, &row).await?;
    Ok(Json(JobDetail { job: render::job(row), validation }))
}
