//! The topic `activity`: every row of the log becomes one frame, rendered once for all clients.

use crate::{Activity, render};
use plugin_api::{
    HostError, HostErrorCode, PluginContext,
    manifest::{Frame, TopicInput},
};
use std::collections::BTreeMap;

pub const NAME: &str = "activity";

pub async fn frames(cx: PluginContext<Activity>, TopicInput { rows }: TopicInput) -> Result<Vec<Frame>, HostError> {
    let events = render::events(&cx, rows).await?;
    events
        .into_iter()
        .map(|event| {
            let data = serde_json::to_string(&event).map_err(invalid)?;
            Ok(Frame { id: event.id, ts: event.ts, event: event.kind, data, labels: BTreeMap::new() })
        })
        .collect()
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}
