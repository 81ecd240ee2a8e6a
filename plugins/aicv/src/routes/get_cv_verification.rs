//! `GET /api/cv/{agent}/verify`: how to verify the credential.

use super::{
    PER_MINUTE,
    issue::{find_agent, publisher},
    published::newest,
};
use crate::{
    Aicv,
    error::CvError,
    model::{LIMIT_DEFAULT, TypedData, recipe},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route};
use serde_json::Value;

pub fn route() -> Route<Aicv> {
    Route::get("/api/cv/{agent}/verify", get_cv_verification)
        .public()
        .per_minute(PER_MINUTE)
        .cache_control("public, max-age=30")
        .summary("How to verify the record of an agent: what is signed, the hashing, eleven steps")
        .endpoint("cvVerify")
        .example("GET /api/cv/{agent}/verify")
        .response::<serde_json::Map<String, Value>>(200, "application/json", "What to check, and how")
}

async fn get_cv_verification(
    cx: RequestContext<Aicv>,
    Path(segment): Path<String>,
) -> Result<Json<Value>, HandlerError<CvError>> {
    let agent = find_agent(&cx, &segment).await?;
    let publisher = publisher(&cx).await?;
    let (_, document) = newest(&cx, &publisher, &agent, LIMIT_DEFAULT).await?;
    let typed_data = TypedData::new(cx.environment(), &cx.plugin().config.domain_name, &document.document);
    Ok(Json(recipe(&publisher, &typed_data)))
}
