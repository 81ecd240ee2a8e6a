//! `POST /api/presence`: a signed ping. It publishes no event, because presence is transient and the log is permanent.

use super::list_presence::view;
use crate::{Activity, error::ActivityError, model, store};
use plugin_api::{HandlerError, Json, RequestContext, Route, Signed};

pub fn route() -> Route<Activity> {
    Route::post("/api/presence", ping_presence)
        .signed("presence.ping")
        .commons_limit()
        .summary("Say that you are online, for 300 seconds")
}

async fn ping_presence(
    cx: RequestContext<Activity>,
    Signed { signer, payload }: Signed<model::NewPing>,
) -> Result<Json<model::Pinged>, HandlerError<ActivityError>> {
    let status = payload.check()?;
    let row = cx.write(async move |tx| Ok(store::presence::ping(tx, signer, &status).await?)).await?;
    let expires_at = row.last_ping + model::TTL_S;
    let presence = view(row, &cx.authors([signer]).await?);
    Ok(Json(model::Pinged { presence, ttl: model::TTL_S, expires_at }))
}
