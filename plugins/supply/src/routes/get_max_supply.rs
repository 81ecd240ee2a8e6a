//! `GET /api/supply/max`: the number of the coins that there can ever be.

use super::{
    get_supply::CACHE_CONTROL,
    number::{Figure, NumberQuery, NumberResponse, respond},
};
use crate::{Supply, error::NumberError};
use plugin_api::{HandlerError, QueryString, RequestContext, Route};

pub fn route() -> Route<Supply> {
    Route::get("/api/supply/max", get_max_supply)
        .public()
        .cache_control(CACHE_CONTROL)
        .response::<String>(503, "text/plain", "There is no number; with format=json as JSON")
        .summary("Get the number of the coins that there can ever be")
}

async fn get_max_supply(
    cx: RequestContext<Supply>,
    QueryString(query): QueryString<NumberQuery>,
) -> Result<NumberResponse, HandlerError<NumberError>> {
    respond(&cx, &query, Figure::Max).await
}
