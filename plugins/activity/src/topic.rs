//! The topic `activity`: every row of the log becomes one frame, rendered once for all clients.

use crate::{Activity, model::ActivityEvent};
use plugin_api::{
    HostError, PluginContext,
    stream::{Frame, RETRACTED_TYPES_LABEL, TopicRow},
};

pub const NAME: &str = "activity";

pub async fn frames(cx: PluginContext<Activity>, rows: Vec<TopicRow>) -> Result<Vec<Frame>, HostError> {
    let events = rows.into_iter().map(ActivityEvent::new).collect::<Result<Vec<_>, _>>()?;
    let authors = cx.authors(events.iter().flat_map(ActivityEvent::addresses)).await?;
    let frame = |event: ActivityEvent| {
        let retracted = event.retracted_types();
        let event = event.with_names(|address| authors.get(address).into());
        let frame = Frame::new(event.id, event.ts, event.kind.as_str(), &event)?;
        Ok(retracted.into_iter().fold(frame, |frame, types| frame.label(RETRACTED_TYPES_LABEL, types.join(" "))))
    };
    events.into_iter().map(frame).collect()
}
