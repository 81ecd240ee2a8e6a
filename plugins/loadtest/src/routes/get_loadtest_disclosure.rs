//! `GET /.well-known/loadtest.json`: the public disclosure where programs look for it.

use super::documents::disclosure;
use crate::{Loadtest, model::Disclosure};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Loadtest> {
    Route::get("/.well-known/loadtest.json", get_loadtest_disclosure)
        .public()
        .cached()
        .cache_control("public, max-age=60")
        .summary("The same as /api/loadtest/manifest")
}

async fn get_loadtest_disclosure(cx: RequestContext<Loadtest>) -> Result<Json<Disclosure>, HandlerError> {
    Ok(Json(disclosure(&cx).await?))
}
