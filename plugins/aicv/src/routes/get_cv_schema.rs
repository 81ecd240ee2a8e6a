//! `GET /api/ns/aicv/v1/schema.json`: the JSON Schema of the documents.

use crate::{Aicv, model};
use plugin_api::{HandlerError, RequestContext, Route, response::RawResponse};

pub fn route() -> Route<Aicv> {
    Route::get("/api/ns/aicv/v1/schema.json", get_cv_schema)
        .public()
        .cached()
        .cache_control("public, max-age=86400")
        .summary("The JSON Schema of agent records")
        .response::<serde_json::Map<String, serde_json::Value>>(200, "application/schema+json", "The schema")
}

async fn get_cv_schema(cx: RequestContext<Aicv>) -> Result<RawResponse, HandlerError> {
    let body = model::schema(cx.environment()).to_string().into_bytes().into();
    Ok(RawResponse { status: 200, content_type: "application/schema+json".into(), body })
}
