//! `GET /api/loadtest/manifest`: the public disclosure.

use super::documents::disclosure;
use crate::{Loadtest, model::Disclosure};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Loadtest> {
    Route::get("/api/loadtest/manifest", get_loadtest_manifest)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .summary("What the load test is, and how to tell what belongs to it")
}

async fn get_loadtest_manifest(cx: RequestContext<Loadtest>) -> Result<Json<Disclosure>, HandlerError> {
    Ok(Json(disclosure(&cx).await?))
}
