//! `GET /api/stream`: new events as server-sent events. The gateway replays and sends them; the topic renders them.

use crate::{Activity, model::type_filter, topic};
use plugin_api::{HandlerError, JsonSchema, QueryString, RequestContext, Route, stream};
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
             replayed first, oldest first; after a time (`since`) only the newest 500.",
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

async fn stream_activity(
    _: RequestContext<Activity>,
    QueryString(query): QueryString<StreamFilter>,
    last_event_id: stream::LastEventId,
) -> Result<stream::Topic, HandlerError> {
    let position = stream::StreamPosition::new(&last_event_id, query.since_id.as_deref(), query.since.as_deref());
    let event = type_filter(&query.kind);
    Ok(stream::Topic(stream::Subscription {
        row_types: event.iter().cloned().collect(),
        is_resumed: last_event_id.0.is_some(),
        event,
        ..position.subscription(topic::NAME)
    }))
}
