//! `GET /api/artifacts/{id}`: an artifact and its stargazers.

use crate::{
    Artifacts,
    error::ArtifactsError,
    model::{ArtifactDetail, ArtifactId, ArtifactState, DetailState},
    store::{
        artifacts::{self, ArtifactRow},
        stars,
    },
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route, Viewer};

pub fn route() -> Route<Artifacts> {
    Route::get("/api/artifacts/{id}", get_artifact).public().cached().summary("Read an artifact and who starred it")
}

const STARGAZERS_MAX: u32 = 100;

async fn get_artifact(
    cx: RequestContext<Artifacts>,
    Path(id): Path<ArtifactId>,
    Viewer(viewer): Viewer,
) -> Result<RenderedJson<ArtifactDetail>, HandlerError<ArtifactsError>> {
    let db = cx.db();
    let found = artifacts::find(&db, id).await?;
    let row: ArtifactRow<'_> = found.first()?.ok_or(ArtifactsError::UnknownArtifact { artifact: id })?;
    let stargazers = stars::newest(&db, id, STARGAZERS_MAX).await?;
    let starred = match viewer {
        Some(viewer) => Some(stars::is_given(&db, id, viewer).await?),
        None => None,
    };
    let authors = cx.authors(stargazers.iter().copied().chain([row.owner])).await?;
    let state = ArtifactState { id, owner: authors.get(row.owner), stars: row.stars };
    let stargazers = stargazers.into_iter().map(|stargazer| authors.get(stargazer)).collect();
    Ok(RenderedJson::object(row.kept, &DetailState { state, stargazers, viewer, starred })?)
}
