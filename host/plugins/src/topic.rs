//! One call of a topic's renderer. The rule: every failure is recorded as a fault of the plugin.

use super::{
    ActivePlugin,
    bounds::{FRAMES_BYTES_MAX, excess},
    polls::GateClosed,
};
use abi_stable::std_types::RResult;
use gateway_activity::LogPage;
use plugin_api::abi::Frame;
use std::{sync::Arc, time::Duration};

/// The readers of the topic wait for the frames.
const RENDER_TIMEOUT: Duration = Duration::from_secs(5);

/// Renders rows of the activity log with the topic at that index in the manifest; failures are the plugin's faults.
pub async fn render(plugin: &Arc<ActivePlugin>, topic: u32, page: LogPage) -> Option<Vec<Frame>> {
    let _in_flight = plugin.acquire()?;
    let operation = plugin.operations.topic(topic)?;
    let probe = plugin.handle.admit(operation).ok()?;
    let name = format!("topic {}", plugin.manifest.topics.get(topic as usize)?);
    let LogPage { rows, last_id } = page;
    let call = plugin.call(operation.number, || plugin.object.render(topic, rows));
    match tokio::time::timeout(RENDER_TIMEOUT, call).await {
        Ok(Ok(RResult::ROk(frames))) => match problem_of(&frames, last_id) {
            None => {
                plugin.handle.end_probe(operation, probe);
                Some(frames.into_vec())
            }
            Some(problem) => {
                plugin.handle.error(&name, problem);
                None
            }
        },
        Ok(Ok(RResult::RErr(fault))) => {
            plugin.handle.fault(&name, &fault);
            None
        }
        Ok(Err(GateClosed)) => None,
        Err(_elapsed) => {
            plugin.handle.timed_out(&name, RENDER_TIMEOUT);
            None
        }
    }
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
