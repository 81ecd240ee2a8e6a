//! The topic `activity`: every row of the log becomes one frame, rendered once for all clients.

use crate::{
    Activity,
    model::{self, ActivityEvent},
};
use plugin_api::{
    HostError, PluginContext,
    manifest::{Frame, TopicInput},
    render_json,
};
use std::collections::BTreeMap;

pub const NAME: &str = "activity";

pub async fn frames(cx: PluginContext<Activity>, TopicInput { rows }: TopicInput) -> Result<Vec<Frame>, HostError> {
    let authors = cx.authors(rows.iter().flat_map(model::addresses)).await?;
    let frame = |row| {
        let event = ActivityEvent::new(row, |address| authors.get(address).into());
        let data = render_json(&event)?;
        Ok(Frame { id: event.id, ts: event.ts, event: event.kind, data, labels: BTreeMap::new() })
    };
    rows.into_iter().map(frame).collect()
}
