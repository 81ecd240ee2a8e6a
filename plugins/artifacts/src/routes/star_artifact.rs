//! `POST /api/artifacts/{id}/star`: a star, signed by its giver. A second star of the same address changes nothing.

use crate::{
    Artifacts,
    error::ArtifactsError,
    model::{ArtifactId, ArtifactStarred, ArtifactState, StarState, StarredArtifact},
    store::{
        artifacts::{self, ArtifactRow},
        stars,
    },
};
use plugin_api::{HandlerError, JsonSchema, Path, RenderedJson, RequestContext, Route, Signed, manifest::RateLimit};
use serde::Deserialize;

pub fn route() -> Route<Artifacts> {
    Route::post("/api/artifacts/{id}/star", star_artifact)
        .signed("artifact.star")
        .rate_limit(RateLimit::commons_writes())
        .needs_row("artifact", "id", "SELECT 1 FROM artifacts_artifacts WHERE id = $1")
        .summary("Star an artifact")
        .example("POST /api/artifacts/{id}/star {} signed as artifact.star")
}

/// Payload of `artifact.star`: nothing.
#[derive(Deserialize, JsonSchema)]
struct Star {}

async fn star_artifact(
    cx: RequestContext<Artifacts>,
    Path(id): Path<ArtifactId>,
    Signed { signer, payload: Star {} }: Signed<Star>,
) -> Result<RenderedJson<StarredArtifact>, HandlerError<ArtifactsError>> {
    let unknown = || ArtifactsError::UnknownArtifact { artifact: id };
    // Artifacts are never deleted and never change their owner, so a read before the transaction stays valid in it.
    let before = artifacts::find(&cx.db(), id).await?;
    let owner = before.first::<ArtifactRow<'_>>()?.ok_or_else(unknown)?.owner;
    let authors = cx.authors([owner]).await?;
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let changed = stars::give(&tx, id, signer, now_s).await?;
    let after = artifacts::find(&tx, id).await?;
    let row: ArtifactRow<'_> = after.first()?.ok_or_else(unknown)?;
    if changed {
        let event = ArtifactStarred { artifact_id: id, name: row.name, owner, stars: row.stars };
        event.by(signer, now_s)?.publish(&tx)?;
    }
    let state = ArtifactState { id, owner: authors.get(owner), stars: row.stars };
    Ok(RenderedJson::object(row.kept, &StarState { state, starred: true, changed })?)
}
