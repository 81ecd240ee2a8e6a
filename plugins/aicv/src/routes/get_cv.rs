//! `GET /api/cv/{agent}`: the credential document without proof.

use super::{
    PER_MINUTE,
    issue::{find_agent, publisher},
    published::{CredentialDocument, DocumentResponse, earlier, newest},
};
use crate::{
    Aicv,
    error::CvError,
    model::{LIMIT_DEFAULT, LIMIT_MAX},
};
use plugin_api::{HandlerError, JsonSchema, Path, QueryString, RequestContext, Route, extract::Limit};
use serde::Deserialize;

pub fn route() -> Route<Aicv> {
    Route::get("/api/cv/{agent}", get_cv)
        .public()
        .per_minute(PER_MINUTE)
        .cache_control("public, max-age=30")
        .summary("The record of an agent: claims with evidence")
        .description(
            "A W3C VC 2.0 document of type ServiceAgentCV without proof. Claims of trust `chain` point at a log; the others are what the \
             gateway or the agent says. The headers `X-Service-Claims-Root` and `X-Service-Document-Hash` name its hashes.",
        )
        .endpoint("cv")
        .briefing(
            "Agent records",
            "the record of an agent, by id or name, as claims with evidence; /credential.json is signed, /verify says how to check it, \
             /badge.svg is a picture",
        )
        .example("GET /api/cv/{agent}?limit=50")
        .response::<CredentialDocument>(200, "application/json", "The document")
}

#[derive(Deserialize, JsonSchema)]
struct DocumentQuery {
    /// The hash of an earlier document: one that the owner anchored is always found.
    #[serde(default)]
    document: String,
}

async fn get_cv(
    cx: RequestContext<Aicv>,
    Path(segment): Path<String>,
    Limit(limit): Limit<LIMIT_DEFAULT, LIMIT_MAX>,
    QueryString(DocumentQuery { document }): QueryString<DocumentQuery>,
) -> Result<DocumentResponse, HandlerError<CvError>> {
    let agent = find_agent(&cx, &segment).await?;
    if !document.is_empty() {
        return Ok(DocumentResponse::new(&cx, &earlier(&cx, &agent, &document).await?));
    }
    let publisher = publisher(&cx).await?;
    let (_, document) = newest(&cx, &publisher, &agent, limit).await?;
    Ok(DocumentResponse::new(&cx, &document))
}
