//! `GET /api/payin/market`: the reference price of the coin, as it was read in the last minute.

use crate::{
    Payin,
    error::MarketError,
    model::{MarketView, PrimaryReading, SecondaryReading, VenueLinks, VenueView},
    store::market::{self, VenueAttempt, VenueKind},
};
use plugin_api::{HandlerError, HostError, Json, RequestContext, Route, chain::MAIN};
use serde::de::DeserializeOwned;

/// A reading that is older was not replaced in time.
const AGE_MAX_S: i64 = 120;
const OLD: &str = "it was not read lately";

pub fn route() -> Route<Payin> {
    Route::get("/api/payin/market", get_market)
        .public()
        .per_minute(60)
        .summary("The reference price of the coin, read from pools; quotes never use it")
        .description(
            "The deepest pool of the coin on the service chain's exchange, at most two minutes old. While that chain cannot be read, the pool on \
             another chain stands in its place, with primaryError. bridgePaused says whether coins can be moved between the two.",
        )
        .example("GET /api/payin/market")
}

async fn get_market(cx: RequestContext<Payin>) -> Result<Json<MarketView>, HandlerError<MarketError>> {
    let (plugin, environment) = (cx.plugin(), cx.environment());
    let market = &plugin.market;
    if !market.is_configured() {
        return Err(MarketError::Disabled.into());
    }
    let primary_name = format!("{}-dex", environment.brand.marker);
    let primary = match &market.venue {
        Some(venue) => {
            served(&cx, VenueKind::Primary, |reading: &PrimaryReading| {
                (reading.venue == *venue).then_some(reading.read_at)
            })
            .await?
        }
        None => Err("none is configured".to_owned()),
    };
    let secondary = match &market.secondary {
        Some(settings) => {
            let is_of = |reading: &SecondaryReading| (reading.settings == *settings).then_some(reading.read_at);
            served(&cx, VenueKind::Secondary, is_of).await?.map(|reading| reading.view())
        }
        None => Err("none is configured".to_owned()),
    };
    let links = VenueLinks { dex: &market.dex_url, pool: &market.pool_url, swap: &market.swap_url };
    let of_chain = (MAIN, environment.chain_id);
    let shown = primary.and_then(|reading| {
        let view = reading.view(primary_name.clone(), of_chain, links).ok_or_else(|| OLD.to_owned())?;
        Ok((view, reading))
    });
    match (shown, secondary) {
        (Ok((view, reading)), secondary) => {
            let usd = reading.pools.first().map(|pool| pool.usd);
            let pools = Some(reading.pool_views(links));
            let view = MarketView::new(view, plugin.price, usd);
            Ok(Json(MarketView { pools, secondary: secondary.ok(), ..view }))
        }
        (Err(error), Ok(view)) => Ok(Json(in_place_of_primary(plugin, view, error))),
        (Err(error), Err(other)) => {
            let source = market
                .secondary
                .as_ref()
                .map_or_else(|| primary_name.clone(), |secondary| format!("{primary_name}, {}", secondary.venue));
            Err(MarketError::Unavailable { primary: error, secondary: other, source }.into())
        }
    }
}

fn in_place_of_primary(plugin: &Payin, view: VenueView, error: String) -> MarketView {
    let view = MarketView::new(view, plugin.price, None);
    MarketView { primary_error: Some(error), ..view }
}

/// The last reading, or why there is none; `read_at` says when it was read, and `None` where it is of another configuration.
async fn served<R: DeserializeOwned>(
    cx: &RequestContext<Payin>,
    of: VenueKind,
    read_at: impl Fn(&R) -> Option<i64>,
) -> Result<Result<R, String>, HostError> {
    let last: Option<VenueAttempt<R>> = market::find(&cx.db(), of).await?;
    let Some(VenueAttempt { outcome, .. }) = last else { return Ok(Err("it was not read yet".to_owned())) };
    Ok(outcome.and_then(|reading| match read_at(&reading) {
        Some(at) if cx.now_s() - at <= AGE_MAX_S => Ok(reading),
        Some(_) => Err(OLD.to_owned()),
        None => Err("it was not read yet".to_owned()),
    }))
}
