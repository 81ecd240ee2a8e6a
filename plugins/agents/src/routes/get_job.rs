//! `GET /api/jobs/{id}`: a job, and the validation of its delivery.

use crate::{Agents, error::UnknownRecord, model, store};
use plugin_api::{HandlerError, JobId, Json, Path, RequestContext, Route};

pub fn route() -> Route<Agents> {
    Route::get("/api/jobs/{id}", get_job).public().cached().summary("One job")
}

async fn get_job(
    cx: RequestContext<Agents>,
    Path(id): Path<JobId>,
) -> Result<Json<model::JobDetail>, HandlerError<UnknownRecord>> {
    let db = cx.db();
    let job = store::jobs::find(&db, id).await?.ok_or(UnknownRecord::Job(id))?;
    let validation = store::validations::of_job(&db, &job.row).await?;
    Ok(Json(model::JobDetail { job, validation }))
}
