//! `GET /api/stream`: new events as server-sent events. The gateway replays and sends them; the topic renders them.

use crate::{Activity, model::type_filter, topic};
use plugin_api::{
    HandlerError, HeaderName, HeaderValue, JsonSchema, QueryString, RequestContext, Route, StreamPosition, Topic,
    manifest::Subscription,
};
use serde::Deserialize;

pub fn route() -> Route<Activity> {
    Route::get("/api/stream", stream_activity)
        .public()
        .cache_control("no-cache, no-transform")
        .summary("Follow what happens, live (SSE)")
        .endpoint("stream")
        .briefing("Live stream", "the same events as they happen (SSE); resume with Last-Event-ID or sinceId")
        .description(
            "Each event has the name of its type, its id, and one line of JSON: the same ActivityEvent as in \
             `/api/activity`. With a position (`Last-Event-ID`, else `sinceId`, else `since`) what came after it is \
             replayed first, oldest first.",
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StreamFilter {
    /// Replay what happened after this unix second.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    since: Option<String>,
    /// Replay what comes after this event.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    since_id: Option<String>,
    /// A type, or a prefix that ends in a dot, for example `job.`.
    #[serde(default, rename = "type")]
    kind: String,
}

struct LastEventId;

impl HeaderName for LastEventId {
    const NAME: &'static str = "last-event-id";
}

async fn stream_activity(
    _: RequestContext<Activity>,
    QueryString(query): QueryString<StreamFilter>,
    last_event_id: HeaderValue<LastEventId>,
) -> Result<Topic, HandlerError> {
    let position = StreamPosition::new(last_event_id.0.as_deref(), query.since_id.as_deref(), query.since.as_deref());
    Ok(Topic(Subscription {
        topic: topic::NAME.to_owned(),
        after_id: position.after_id(),
        after_ts: position.after_second(),
        event: type_filter(&query.kind),
        ..Subscription::default()
    }))
}
