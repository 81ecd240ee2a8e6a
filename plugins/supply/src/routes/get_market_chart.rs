//! `GET /api/market/coingecko/coins/{id}/market_chart`: no history is kept, so every list is empty.

use crate::{Supply, error::MarketError};
use plugin_api::{HandlerError, Json, JsonSchema, Path, RequestContext, Route};
use serde::Serialize;

pub fn route() -> Route<Supply> {
    Route::get("/api/market/coingecko/coins/{id}/market_chart", get_market_chart)
        .public()
        .cache_control("public, max-age=300")
        .summary("Get the coin's history in the shape of price aggregators: empty, because none is kept")
}

/// Pairs of Unix milliseconds and a number: none.
#[derive(Default, Serialize, JsonSchema)]
struct MarketChart {
    prices: Vec<[i64; 2]>,
    market_caps: Vec<[i64; 2]>,
    total_volumes: Vec<[i64; 2]>,
}

async fn get_market_chart(
    cx: RequestContext<Supply>,
    Path(id): Path<String>,
) -> Result<Json<MarketChart>, HandlerError<MarketError>> {
    if id != cx.plugin().listing.coin_id {
        return Err(MarketError::UnknownCoin.into());
    }
    Ok(Json(MarketChart::default()))
}
