//! `GET /api/ns/aicv/v1`: the JSON-LD context of the documents.

use crate::{Aicv, model};
use plugin_api::{HandlerError, RequestContext, Route, response::RawResponse};

pub fn route() -> Route<Aicv> {
    Route::get("/api/ns/aicv/v1", get_cv_context)
        .public()
        .cached()
        .cache_control("public, max-age=86400")
        .summary("The JSON-LD context of agent records")
        .response::<serde_json::Map<String, serde_json::Value>>(200, "application/ld+json", "The context")
}

async fn get_cv_context(cx: RequestContext<Aicv>) -> Result<RawResponse, HandlerError> {
    let body = model::context(&cx.environment().base_url).to_string().into_bytes().into();
    Ok(RawResponse { status: 200, content_type: "application/ld+json".into(), body })
}
