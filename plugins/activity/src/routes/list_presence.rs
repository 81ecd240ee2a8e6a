//! `GET /api/presence`: addresses that pinged within the last five minutes.

use crate::{
    Activity,
    model::{PresenceView, TTL_S},
    store::presence::{self, PresenceRow},
};
use plugin_api::{HandlerError, JsonSchema, Listed, RequestContext, Route, handles::Authors};
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
#[schemars(extend("items" = "The latest ping first, at most 500."))]
struct PresenceList {
    /// Seconds that a ping lasts.
    ttl: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_presence(cx: RequestContext<Activity>) -> Result<Listed<PresenceView, PresenceList>, HandlerError> {
    let now = cx.now_s();
    let rows: Vec<PresenceRow> = presence::online(now).first(ITEMS_MAX).rows(&cx.db()).await?;
    let authors = cx.authors(rows.iter().map(|row| row.address)).await?;
    let items = rows.into_iter().map(|row| view(row, &authors)).collect();
    Ok(Listed::new(items, PresenceList { ttl: TTL_S, now })?)
}

pub fn view(row: PresenceRow, authors: &Authors) -> PresenceView {
    let PresenceRow { address, status, last_ping, since } = row;
    PresenceView { author: authors.get(address), status, last_ping, since }
}
