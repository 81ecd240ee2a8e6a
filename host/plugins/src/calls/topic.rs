//! One call of a topic's renderer. The rule: every failure is recorded as a fault of the plugin.

use crate::{
    bounds::{FRAMES_BYTES_MAX, excess},
    plugin::ActivePlugin,
};
use abi_stable::std_types::RVec;
use gateway_activity::LogPage;
use plugin_api::abi::Frame;
use std::{sync::Arc, time::Duration};

/// The readers of the topic wait for the frames.
const RENDER_TIMEOUT: Duration = Duration::from_secs(5);

/// Renders rows of the activity log with the topic at that index in the manifest; failures are the plugin's faults.
pub async fn render_topic(plugin: &Arc<ActivePlugin>, topic: u32, page: LogPage) -> Option<Vec<Frame>> {
    let operation = plugin.operations.topic(topic)?;
    let LogPage { rows, last_id } = page;
    let decode = |frames: RVec<Frame>| problem_of(&frames, last_id).map_or_else(|| Ok(frames.into_vec()), Err);
    plugin.call_contained(operation, RENDER_TIMEOUT, || plugin.object.render(topic, rows), decode).await.ok()
}

fn problem_of(frames: &[Frame], last_id: i64) -> Option<String> {
    if !are_in_order(frames, last_id) {
        return Some("frames without rows, or in another order".to_owned());
    }
    let labels = |frame: &Frame| -> usize { frame.labels.iter().map(|label| label.0.len() + label.1.len()).sum() };
    let bytes =
        frames.iter().map(|frame| size_of::<Frame>() + frame.event.len() + frame.data.len() + labels(frame)).sum();
    excess("a page of frames", bytes, FRAMES_BYTES_MAX)
}

/// A client resumes after the last id it received: a frame with another id would make it miss events, or get them twice.
fn are_in_order(frames: &[Frame], last_id: i64) -> bool {
    frames.is_sorted_by_key(|frame| frame.id) && frames.last().is_none_or(|last| last.id <= last_id)
}
