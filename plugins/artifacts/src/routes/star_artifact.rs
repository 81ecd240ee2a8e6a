//! `POST /api/artifacts/{id}/star`: a star, signed by its giver. A second star of the same address changes nothing.

use crate::{Artifacts, error::ArtifactsError, model, store};
use plugin_api::{Event, HandlerError, JsonSchema, Path, RenderedJson, RequestContext, Route, Signed};
use serde::Deserialize;

pub fn route() -> Route<Artifacts> {
    Route::post("/api/artifacts/{id}/star", star_artifact)
        .signed("artifact.star")
        .commons_limit()
        .needs_row("artifact", "id", "SELECT 1 FROM artifacts_artifacts WHERE id = $1")
        .summary("Star an artifact")
        .example("POST /api/artifacts/{id}/star {} signed as artifact.star")
}

/// Payload of `artifact.star`: nothing.
#[derive(Deserialize, JsonSchema)]
struct Star {}

async fn star_artifact(
    cx: RequestContext<Artifacts>,
    Path(id): Path<model::ArtifactId>,
    Signed { signer, payload: Star {} }: Signed<Star>,
) -> Result<RenderedJson<model::StarredArtifact>, HandlerError<ArtifactsError>> {
    cx.write(async move |tx| {
        let changed = store::insert_star(tx, id, signer).await?;
        let found = store::find_artifact(tx, id).await?;
        let row: store::ArtifactRow<'_> = found.first()?.ok_or(ArtifactsError::UnknownArtifact { artifact: id })?;
        if changed {
            let event = model::ArtifactStarred { artifact_id: id, name: row.name, owner: row.owner, stars: row.stars };
            event.by(signer).at(tx.now_s()).publish(tx)?;
        }
        let state = model::ArtifactState { id, owner: row.owner.into(), stars: row.stars };
        Ok(RenderedJson::object(row.kept, &model::StarredArtifact { text: (), state, starred: true, changed })?)
    })
    .await
}
