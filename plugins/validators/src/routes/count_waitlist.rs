//! `GET /api/validators/waitlist/count`: the number of entries.

use super::totals::{self, Totals};
use crate::Validators;
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub fn route() -> Route<Validators> {
    Route::get("/api/validators/waitlist/count", count_waitlist)
        .public()
        .cached()
        .cache_control("public, max-age=30")
        .summary("Count the sign-ups for validator seats")
}

async fn count_waitlist(cx: RequestContext<Validators>) -> Result<Json<Totals>, HandlerError> {
    Ok(Json(totals::read(&cx).await?))
}
