//! `GET /api/jobs/{id}`: a job, and the validation of its delivery.

use crate::{
    Agents,
    error::UnknownRecord,
    model::JobDetail,
    store::{jobs, validations},
};
use plugin_api::{HandlerError, JobId, Json, Path, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/jobs/{id}", get_job).public().cached().summary("One job")
}

async fn get_job(
    cx: RequestContext<Agents>,
    Path(id): Path<JobId>,
) -> Result<Json<JobDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let job = jobs::find(&db, id).await?.ok_or(UnknownRecord::Job(id))?;
    let validation = validations::of_job(&db, &job).await?;
    Ok(Json(JobDetail { job, validation }))
}
