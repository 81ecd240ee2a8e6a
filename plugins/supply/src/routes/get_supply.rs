//! `GET /api/supply`: the numbers, and what each of them is made of.

use super::latest::latest;
use crate::{Supply, error::SupplyError, model::Snapshot};
use plugin_api::{HandlerError, Json, RequestContext, Route};

pub const CACHE_CONTROL: &str = "public, max-age=60";

pub fn route() -> Route<Supply> {
    Route::get("/api/supply", get_supply)
        .public()
        .cache_control(CACHE_CONTROL)
        .summary("Get the coin's supply with everything that it is made of")
        .endpoint("supply")
        .briefing(
            "Supply",
            "total, circulating and maximum supply with every input; /total, /circulating and /max are plain numbers",
        )
        .example("GET /api/supply")
}

async fn get_supply(cx: RequestContext<Supply>) -> Result<Json<Snapshot>, HandlerError<SupplyError>> {
    Ok(Json(latest(&cx).await?))
}
