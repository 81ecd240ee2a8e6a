//! `GET /api/supply/total`: the number of all coins that exist.

use super::{
    get_supply::CACHE_CONTROL,
    number::{Figure, NumberQuery, NumberResponse, respond},
};
use crate::{Supply, error::NumberError};
use plugin_api::{HandlerError, QueryString, RequestContext, Route};

pub fn route() -> Route<Supply> {
    Route::get("/api/supply/total", get_total_supply)
        .public()
        .cache_control(CACHE_CONTROL)
        .response::<String>(503, "text/plain", "There is no number; with format=json as JSON")
        .summary("Get the number of all coins that exist")
}

async fn get_total_supply(
    cx: RequestContext<Supply>,
    QueryString(query): QueryString<NumberQuery>,
) -> Result<NumberResponse, HandlerError<NumberError>> {
    respond(&cx, &query, Figure::Total).await
}
