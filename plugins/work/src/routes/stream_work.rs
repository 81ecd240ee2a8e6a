//! `GET /api/work/feed`: new work as server-sent events. The gateway replays, filters and sends; the topic renders.

use super::tests_of;
use crate::{Work, error::WorkError, model::WorkQuery, topic};
use plugin_api::{HandlerError, JsonSchema, QueryString, RequestContext, Route, stream};
use serde::Deserialize;

pub fn route() -> Route<Work> {
    Route::get("/api/work/feed", stream_work)
        .public()
        .cache_control("no-cache, no-transform")
        .summary("Follow new work, live (SSE)")
        .endpoint("workFeed")
        .briefing("Feed", "new work as it comes (SSE), with the same filters; resume with Last-Event-ID or sinceId")
        .example("GET /api/work/feed?capability=rust")
        .description(
            "Each event is called `work`, has the id of what made the work in the activity log, and one line of JSON: an item of \
             `/api/work` with `activityId`. The filters are those of the list. With a position (`Last-Event-ID`, else `sinceId`, \
             else `since`) what came after it and is still open is replayed first, oldest first; after a time (`since`) that of the \
             newest 500 events.",
        )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FeedQuery {
    #[serde(flatten)]
    work: WorkQuery,
    /// Replay what happened after this unix second.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    since: Option<String>,
    /// Replay what comes after this event.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    since_id: Option<String>,
}

async fn stream_work(
    cx: RequestContext<Work>,
    QueryString(query): QueryString<FeedQuery>,
    last_event_id: stream::LastEventId,
) -> Result<stream::Topic, HandlerError<WorkError>> {
    let tests = tests_of(&cx, &query.work.check()?).await?;
    let position = stream::StreamPosition::new(&last_event_id, query.since_id.as_deref(), query.since.as_deref());
    Ok(stream::Topic(stream::Subscription {
        row_types: topic::TRIGGERS.map(str::to_owned).into(),
        is_resumed: last_event_id.0.is_some(),
        tests,
        ..position.subscription(topic::NAME)
    }))
}
