//! `POST /api/artifacts`: an artifact, signed by its owner. Its content is a stored payload, an https URL, or both.

use crate::{
    Artifacts,
    error::ArtifactsError,
    model::{ArtifactPublished, ArtifactState, ArtifactText, ArtifactView, NewArtifact},
    store::artifacts,
};
use plugin_api::{Created, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Artifacts> {
    Route::post("/api/artifacts", publish_artifact)
        .signed("artifact.publish")
        .rate_limit(RateLimit::commons_writes())
        .summary("Publish an artifact")
        .example("POST /api/artifacts {name, kind, payloadHash} signed as artifact.publish")
}

async fn publish_artifact(
    cx: RequestContext<Artifacts>,
    Signed { signer, payload }: Signed<NewArtifact>,
) -> Result<Created<ArtifactView>, HandlerError<ArtifactsError>> {
    let (draft, content) = payload.check()?;
    let content = content.check(&cx).await?;
    // Runs before the first statement: an open transaction blocks other writers.
    let authors = cx.authors([signer]).await?;
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let facts = content.payload_info(&tx).await?;
    let text = ArtifactText::new(draft, &content, facts, now_s);
    let id = artifacts::publish(&tx, signer, &text).await?;
    ArtifactPublished::new(id, &text).by(signer, now_s)?.publish(&tx)?;
    let state = ArtifactState { id, owner: authors.get(signer), stars: 0 };
    Ok(Created(ArtifactView { text, state }))
}
