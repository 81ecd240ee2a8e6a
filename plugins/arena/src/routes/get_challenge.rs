//! `GET /api/arena/challenges/{id}`: a challenge with its ranking.

use crate::{Arena, error::ArenaError, model, store};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, extract::Viewer};

pub fn route() -> Route<Arena> {
    Route::get("/api/arena/challenges/{id}", get_challenge).public().summary("Read a challenge with its ranking")
}

async fn get_challenge(
    cx: RequestContext<Arena>,
    Path(challenge): Path<model::ChallengeId>,
    Viewer(viewer): Viewer,
) -> Result<Json<model::ChallengeDetail>, HandlerError<ArenaError>> {
    store::closing::close_due(&cx, Some(challenge)).await?;
    let detail = store::challenges::find_detail(&cx.db(), challenge, viewer).await?;
    Ok(Json(detail.ok_or(ArenaError::UnknownChallenge { challenge })?))
}
