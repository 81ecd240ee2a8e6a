//! `POST /api/artifacts`: an artifact, signed by its owner. Its content is a stored payload, an https URL, or both.

use crate::{Artifacts, error::ArtifactsError, model, store};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed, format};

pub fn route() -> Route<Artifacts> {
    Route::post("/api/artifacts", publish_artifact)
        .signed("artifact.publish")
        .commons_limit()
        .summary("Publish an artifact")
        .example("POST /api/artifacts {name, kind, payloadHash} signed as artifact.publish")
}

const EXCERPT_CHARS: usize = 160;

async fn publish_artifact(
    cx: RequestContext<Artifacts>,
    Signed { signer, payload }: Signed<model::NewArtifact>,
) -> Result<Created<model::ArtifactView>, HandlerError<ArtifactsError>> {
    let (draft, content) = payload.check()?;
    let content = content.check(&cx).await?;
    let artifact = cx
        .write(async move |tx| {
            let payload = content.payload_info(tx).await?;
            let text = model::ArtifactText::new(&draft, &content, payload, tx.now_s());
            let id = store::insert_artifact(tx, signer, &text).await?;
            let event = model::ArtifactPublished {
                artifact_id: id,
                name: &text.name,
                kind: text.kind,
                license: &text.license,
                tags: &text.tags,
                description: format::excerpt(&text.description, EXCERPT_CHARS),
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            Ok(model::ArtifactView { text, state: model::ArtifactState { id, owner: signer.into(), stars: 0 } })
        })
        .await?;
    Ok(Created(artifact))
}
