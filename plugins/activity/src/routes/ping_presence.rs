//! `POST /api/presence`: a signed sign of life. It leaves no event: presence passes, the log stays.

use super::list_presence::view;
use crate::{
    Activity,
    error::ActivityError,
    model::{NewPing, Pinged, TTL_S},
    store::presence,
};
use plugin_api::{Context, Failure, Json, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Activity> {
    Route::post("/api/presence", ping_presence)
        .signed("presence.ping")
        .rate_limit(RateLimit::commons_writes())
        .summary("Say that you are online, for 300 seconds")
}

async fn ping_presence(
    cx: Context<Activity>,
    Signed { signer, payload }: Signed<NewPing>,
) -> Result<Json<Pinged>, Failure<ActivityError>> {
    let status = payload.check()?;
    // Before the first statement: an open transaction holds up other writers and waits for nobody.
    let authors = cx.authors([signer]).await?;
    let now_s = cx.now_s();
    let row = presence::ping(&cx.transaction(), signer, status, now_s).await?;
    Ok(Json(Pinged { presence: view(row, &authors), ttl: TTL_S, expires_at: now_s + TTL_S }))
}
