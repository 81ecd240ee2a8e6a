//! Follows the activity log: makes deliveries of its events.
//!
//! The rule: deliveries, tasks and the position in the log are written in one transaction. What they need of other plugins is read
//! before.

use crate::{
    Webhooks,
    model::{CHAIN_RETRACTED, LookupRequest, Notification},
    store::{self, queue},
};
use plugin_api::{HostError, PluginContext, handles::LogEvents, stream::ActivityRow};
use serde::Deserialize;

pub const NAME: &str = "follow_log";

pub async fn follow_log(cx: PluginContext<Webhooks>, events: LogEvents) -> Result<(), HostError> {
    let lookups = store::lookups::find(&cx.db(), &LookupRequest::by(&events)).await?;
    let notifications: Vec<Notification> =
        events.iter().filter_map(|event| Notification::of(event, &lookups)).collect();
    let retractions: Vec<Retraction> = events.iter().filter_map(Retraction::of).collect();
    let now_ms = cx.now_ms();
    cx.write(async move |tx| {
        let mut queued = store::fanout::insert(tx, &notifications).await?;
        for retraction in &retractions {
            queued.extend(store::fanout::retract(tx, retraction.activity_id, &retraction.ids).await?);
        }
        queue::push(tx, &queued, now_ms).await?;
        events.mark_done(tx).await
    })
    .await
}

/// An event that takes back others.
struct Retraction {
    activity_id: i64,
    ids: Vec<i64>,
}

impl Retraction {
    fn of(event: &ActivityRow) -> Option<Self> {
        let ids = Vec::deserialize(event.data.get("ids")?).ok()?;
        (event.kind == CHAIN_RETRACTED).then_some(Self { activity_id: event.id, ids })
    }
}
