//! `GET /api/market/coingecko/coins/{id}`: the coin as price aggregators describe one.

use super::{
    get_supply::CACHE_CONTROL,
    latest::{is_usable, latest},
};
use crate::{
    Supply,
    error::MarketError,
    model::{Coin, MarketReading},
    store,
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route};

pub fn route() -> Route<Supply> {
    Route::get("/api/market/coingecko/coins/{id}", get_market_coin)
        .public()
        .cache_control(CACHE_CONTROL)
        .summary("Get the coin in the shape of price aggregators: price, market cap, supply")
        .endpoint("market")
        .briefing("Market", "the coin with price, market cap and supply in the shape of CoinGecko's API; prices are null while no pool is deep enough")
}

async fn get_market_coin(
    cx: RequestContext<Supply>,
    Path(id): Path<String>,
) -> Result<Json<Coin>, HandlerError<MarketError>> {
    let listing = &cx.plugin().listing;
    if id != listing.coin_id {
        return Err(MarketError::UnknownCoin.into());
    }
    let mut snapshot = latest(&cx).await.map_err(|error| match error {
        HandlerError::Caller(error) => HandlerError::Caller(MarketError::from(error)),
        HandlerError::Problem(problem) => HandlerError::Problem(problem),
        HandlerError::Host(error) => HandlerError::Host(error),
    })?;
    let is_served = |market: &MarketReading| {
        Some(&market.venue) == cx.plugin().venue.as_ref() && is_usable(market.read_at, cx.now_ms())
    };
    let market = store::market(&cx.db()).await?.filter(is_served);
    if market.as_ref().is_some_and(|market| market.block != snapshot.as_of_block) {
        snapshot.stale = Some(true);
    }
    Ok(Json(Coin::of(listing, &snapshot, market.as_ref())))
}
