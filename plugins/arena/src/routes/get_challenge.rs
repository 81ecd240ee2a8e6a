//! `GET /api/arena/challenges/{id}`: a challenge with its ranking.

use crate::{
    Arena,
    error::ArenaError,
    model::{ChallengeDetail, ChallengeId},
    store::{challenges, closing},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, Viewer};

pub fn route() -> Route<Arena> {
    Route::get("/api/arena/challenges/{id}", get_challenge).public().summary("Read a challenge with its ranking")
}

async fn get_challenge(
    cx: RequestContext<Arena>,
    Path(challenge): Path<ChallengeId>,
    Viewer(viewer): Viewer,
) -> Result<Json<ChallengeDetail>, HandlerError<ArenaError>> {
    closing::close_due(&cx, Some(challenge)).await?;
    let detail = challenges::find_detail(&cx.db(), challenge, viewer).await?;
    Ok(Json(detail.ok_or(ArenaError::UnknownChallenge { challenge })?))
}
