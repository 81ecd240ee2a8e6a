//! The topic `work`: an event that makes work available becomes one frame per item, unless the item is no longer open.

use crate::{
    Work,
    model::{WorkItemView, labels},
};
use plugin_api::{
    HostError, PluginContext,
    manifest::{ActivityRow, Frame, TopicInput},
    point::{self, WorkEvent, WorkInput, WorkItem},
    render_json,
};
use serde::Serialize;

pub const NAME: &str = "work";
pub const EVENT: &str = "work";

/// Events that make work available.
const TRIGGERS: [&str; 8] = [
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
    item: WorkItemView,
    #[serde(rename = "activityId")]
    activity_id: i64,
}

pub async fn frames(cx: PluginContext<Work>, TopicInput { rows }: TopicInput) -> Result<Vec<Frame>, HostError> {
    let mut frames = Vec::new();
    for row in rows.into_iter().filter(|row| TRIGGERS.contains(&row.kind.as_str())) {
        let ActivityRow { id, kind, ts, data, .. } = row;
        let question = WorkInput { made_by: Some(WorkEvent { event_type: kind, data }) };
        for (_, items) in cx.collect::<Vec<WorkItem>>(point::WORK, &question).await? {
            for item in items {
                frames.push(frame(&cx, (id, ts), item).await?);
            }
        }
    }
    Ok(frames)
}

async fn frame(cx: &PluginContext<Work>, (id, ts): (i64, i64), item: WorkItem) -> Result<Frame, HostError> {
    let labels = labels(&item);
    let authors = cx.authors(item.requester).await?;
    let requester = item.requester.map(|address| authors.get(address).into());
    let item = WorkItemView::new(item, &cx.environment().base_url, requester);
    let data = render_json(&FedItem { item, activity_id: id })?;
    Ok(Frame { id, ts, event: EVENT.to_owned(), data, labels })
}
