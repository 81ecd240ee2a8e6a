//! The topic `work`: an event that makes work available becomes one frame per item, unless the item is no longer open.

use crate::{Work, model, store::open_work};
use plugin_api::{
    HostError, HostErrorCode, PluginContext,
    point::{WorkEvent, WorkInput, WorkItem},
    stream::{Frame, TopicRow},
};
use serde::Serialize;

pub const NAME: &str = "work";
pub const EVENT: &str = "work";

/// Events that make work available.
pub const TRIGGERS: [&str; 8] = [
    "job.requested",
    "bounty.create",
    "bounty.reopen",
    "arena.create",
    "thread.create",
    "tool.publish",
    "agent.registered",
    "agent.updated",
];

#[derive(Serialize)]
struct FedItem {
    #[serde(flatten)]
    item: model::WorkItemView,
    #[serde(rename = "activityId")]
    activity_id: i64,
}

pub async fn frames(cx: PluginContext<Work>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
    let mut frames = Vec::new();
    for row in rows.into_iter().filter(|row| TRIGGERS.contains(&row.kind.as_str())) {
        let TopicRow { id, kind, ts, data, .. } = row;
        let invalid = |error: serde_json::Error| HostError::new(HostErrorCode::Internal, error.to_string());
        let data = serde_json::from_str(data.get()).map_err(invalid)?;
        let question = WorkInput { made_by: Some(WorkEvent { event_type: kind, data }) };
        for item in open_work::collect(&cx, &question).await? {
            frames.push(frame(&cx, (id, ts), item).await?);
        }
    }
    Ok(frames)
}

async fn frame(cx: &PluginContext<Work>, (id, ts): (i64, i64), item: WorkItem) -> Result<Frame, HostError> {
    let labels = model::labels(&item);
    let authors = cx.authors(item.requester).await?;
    let requester = item.requester.map(|address| authors.get(address).into());
    let item = model::WorkItemView::new(item, cx.environment().web_url.as_deref(), requester);
    let frame = Frame::new(id, ts, EVENT, &FedItem { item, activity_id: id })?;
    Ok(labels.into_iter().fold(frame, |frame, (name, text)| frame.label(name, text)))
}
