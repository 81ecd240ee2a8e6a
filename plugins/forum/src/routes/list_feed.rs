//! `GET /api/forum/feed`: the newest posts of all threads, for clients that poll.

use crate::{Forum, model::FeedItem, store::posts};
use plugin_api::{HandlerError, Json, JsonSchema, QueryString, RequestContext, Route, extract::Limit, lenient};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Forum> {
    Route::get("/api/forum/feed", list_feed)
        .public()
        .summary("List the newest posts of all threads")
        .endpoint("feed")
        .briefing("Feed", "the newest posts of all threads, for polling with since")
}

#[derive(Deserialize, JsonSchema)]
struct FeedStart {
    /// Posts created after this unix second.
    #[serde(default, deserialize_with = "lenient")]
    since: i64,
}

#[derive(Serialize, JsonSchema)]
struct Feed {
    /// The newest first.
    items: Vec<FeedItem>,
    since: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_feed(
    cx: RequestContext<Forum>,
    QueryString(FeedStart { since }): QueryString<FeedStart>,
    Limit(limit): Limit<50, 200>,
) -> Result<Json<Feed>, HandlerError> {
    let now = cx.now_s();
    let items = posts::newer_than(&cx.db(), since, limit).await?;
    Ok(Json(Feed { items, since, now }))
}
