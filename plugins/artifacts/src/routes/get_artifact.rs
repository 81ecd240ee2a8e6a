//! `GET /api/artifacts/{id}`: an artifact and its stargazers.

use crate::{Artifacts, error::ArtifactsError, model, store};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route, extract::Viewer};

pub fn route() -> Route<Artifacts> {
    Route::get("/api/artifacts/{id}", get_artifact).public().cached().summary("Read an artifact and who starred it")
}

const STARGAZERS_MAX: u32 = 100;

async fn get_artifact(
    cx: RequestContext<Artifacts>,
    Path(id): Path<model::ArtifactId>,
    Viewer(viewer): Viewer,
) -> Result<RenderedJson<model::ArtifactDetail>, HandlerError<ArtifactsError>> {
    let db = cx.db();
    let found = store::find_artifact(&db, id).await?;
    let row: store::ArtifactRow<'_> = found.first()?.ok_or(ArtifactsError::UnknownArtifact { artifact: id })?;
    let stargazers = store::newest_stargazers(&db, id, STARGAZERS_MAX).await?;
    let starred = match viewer {
        Some(viewer) => Some(store::has_starred(&db, id, viewer).await?),
        None => None,
    };
    let state = model::ArtifactState { id, owner: row.owner.into(), stars: row.stars };
    Ok(RenderedJson::object(row.kept, &model::ArtifactDetail { text: (), state, stargazers, viewer, starred })?)
}
