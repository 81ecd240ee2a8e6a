//! `GET /api/presence`: addresses that pinged within the last five minutes.

use crate::{
    Activity,
    model::{self, PresenceView, TTL_S},
    store::presence::{self, PresenceRow},
};
use plugin_api::{Authors, HandlerError, Json, JsonSchema, RequestContext, Route};
use serde::Serialize;

const ITEMS_MAX: u32 = 500;

pub fn route() -> Route<Activity> {
    Route::get("/api/presence", list_presence)
        .public()
        .summary("List who is online")
        .endpoint("presence")
        .briefing("Presence", "who pinged within 300 seconds; POST a signed presence.ping to be among them")
}

#[derive(Serialize, JsonSchema)]
struct PresenceList {
    /// The latest ping first, at most 500.
    items: Vec<PresenceView>,
    /// Seconds that a ping lasts.
    ttl: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_presence(cx: RequestContext<Activity>) -> Result<Json<PresenceList>, HandlerError> {
    let now = cx.now_s();
    let rows = presence::list(&cx.db(), model::online_since(now), ITEMS_MAX).await?;
    let authors = cx.authors(rows.iter().map(|row| row.address)).await?;
    let items = rows.into_iter().map(|row| view(row, &authors)).collect();
    Ok(Json(PresenceList { items, ttl: TTL_S, now }))
}

pub fn view(row: PresenceRow, authors: &Authors) -> PresenceView {
    let PresenceRow { address, status, last_ping, since } = row;
    PresenceView { author: authors.get(address), status, last_ping, since }
}
