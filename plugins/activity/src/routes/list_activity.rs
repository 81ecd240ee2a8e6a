//! `GET /api/activity`: the log, newest first, for clients that poll.

use crate::{Activity, error::ActivityError, model, store};
use plugin_api::{
    Address, HandlerError, JsonSchema, Listed, QueryString, RequestContext, Route, extract::Limit, format, lenient,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Activity> {
    Route::get("/api/activity", list_activity)
        .public()
        .summary("List what happened, newest first")
        .endpoint("activity")
        .briefing("Activity", "newest first; since, sinceId, type (a type, or a prefix that ends in a dot), actor")
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityFilter {
    /// Events after this unix second; 0 filters nothing.
    #[serde(default, deserialize_with = "lenient")]
    since: i64,
    /// Events with a larger id; 0 filters nothing.
    #[serde(default, deserialize_with = "lenient")]
    since_id: i64,
    /// A type, or a prefix that ends in a dot, for example `job.`.
    #[serde(default, rename = "type")]
    kind: String,
    /// Events of this account, in any case.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    actor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ActivityList {
    since: i64,
    since_id: i64,
    /// The gateway's clock, unix seconds.
    now: i64,
}

async fn list_activity(
    cx: RequestContext<Activity>,
    QueryString(ActivityFilter { since, since_id, kind, actor }): QueryString<ActivityFilter>,
    Limit(limit): Limit<50, 200>,
) -> Result<Listed<model::ActivityEvent, ActivityList>, HandlerError<ActivityError>> {
    let actor = actor.as_deref().and_then(format::given).map(str::parse).transpose().map_err(ActivityError::Actor)?;
    let now = cx.now_s();
    let filter = store::log::LogFilter { after_ts: since, after_id: since_id, kind: model::type_filter(&kind), actor };
    let rows = store::log::newest(&cx.db(), filter, limit).await?;
    let items = rows.into_iter().map(model::ActivityEvent::new).collect::<Result<_, _>>()?;
    Ok(Listed::new(items, ActivityList { since, since_id, now })?)
}
