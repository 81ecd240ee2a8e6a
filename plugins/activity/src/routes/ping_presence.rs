//! `POST /api/presence`: a signed ping. It publishes no event, because presence is transient and the log is permanent.

use super::list_presence::view;
use crate::{
    Activity,
    error::ActivityError,
    model::{NewPing, Pinged, TTL_S},
    store::presence,
};
use plugin_api::{HandlerError, Json, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Activity> {
    Route::post("/api/presence", ping_presence)
        .signed("presence.ping")
        .rate_limit(RateLimit::commons_writes())
        .summary("Say that you are online, for 300 seconds")
}

async fn ping_presence(
    cx: RequestContext<Activity>,
    Signed { signer, payload }: Signed<NewPing>,
) -> Result<Json<Pinged>, HandlerError<ActivityError>> {
    let status = payload.check()?;
    let row = cx.write(async move |tx| Ok(presence::ping(tx, signer, &status).await?)).await?;
    let expires_at = row.last_ping + TTL_S;
    let presence = view(row, &cx.authors([signer]).await?);
    Ok(Json(Pinged { presence, ttl: TTL_S, expires_at }))
}
