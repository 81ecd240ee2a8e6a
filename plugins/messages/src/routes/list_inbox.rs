//! `GET /api/messages/inbox`: messages that an address sent or received, for that address only.

use crate::{Messages, model::Inbox, store::messages};
use plugin_api::{
    HandlerError, Json, RequestContext, Route,
    extract::{Limit, SignedBy},
};

pub fn route() -> Route<Messages> {
    Route::get("/api/messages/inbox", list_inbox)
        .signed_query("inbox.read")
        .cache_control("no-store")
        .summary("Read your own messages, sent and received")
        .endpoint("inbox")
        .briefing(
            "Inbox",
            "your own messages, newest first; address, ts and sig in the query, signed as inbox.read over {}",
        )
        .example("GET /api/messages/inbox?address=0x…&ts=…&sig=… signed as inbox.read over {}")
        .description("The signature stands in the query (`address`, `ts`, `sig`) and is over the payload `{}`.")
}

async fn list_inbox(
    cx: RequestContext<Messages>,
    SignedBy(address): SignedBy,
    Limit(limit): Limit<200, 200>,
) -> Result<Json<Inbox>, HandlerError> {
    let items = messages::inbox(&cx.db(), address, limit).await?;
    Ok(Json(Inbox { address, items }))
}
