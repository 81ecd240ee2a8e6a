//! One call of a topic's renderer. The rule: every failure is recorded as a fault of the plugin.

use super::{ActivePlugin, polls::GateClosed};
use abi_stable::std_types::RResult;
use gateway_activity::LogPage;
use plugin_api::abi::{Fault, FaultKind, Frame};
use std::{sync::Arc, time::Duration};

/// The readers of the topic wait for the frames.
const RENDER_TIMEOUT: Duration = Duration::from_secs(5);

/// Renders rows of the activity log with the topic at that index in the manifest; failures are the plugin's faults.
pub async fn render(plugin: &Arc<ActivePlugin>, topic: u32, page: LogPage) -> Option<Vec<Frame>> {
    let _in_flight = plugin.acquire()?;
    let operation = plugin.operations.topic(topic)?;
    let probe = plugin.handle.admit(operation).ok()?;
    let place = format!("topic {}", plugin.manifest.topics.get(topic as usize)?);
    let LogPage { rows, last_id } = page;
    let call = plugin.call(operation.place, || plugin.object.render(topic, rows));
    match tokio::time::timeout(RENDER_TIMEOUT, call).await {
        Ok(Ok(RResult::ROk(frames))) if are_in_order(&frames, last_id) => {
            plugin.handle.end_probe(operation, probe);
            Some(frames.into_vec())
        }
        Ok(Ok(RResult::ROk(_))) => {
            let message = "frames without rows, or in another order".into();
            plugin.handle.fault(&place, &Fault { kind: FaultKind::Error, message, location: Default::default() });
            None
        }
        Ok(Ok(RResult::RErr(fault))) => {
            plugin.handle.fault(&place, &fault);
            None
        }
        Ok(Err(GateClosed)) => None,
        Err(_elapsed) => {
            plugin.handle.timed_out(&place, RENDER_TIMEOUT);
            None
        }
    }
}

/// A client resumes after the last id it received: a frame with another id would make it miss events, or get them twice.
fn are_in_order(frames: &[Frame], last_id: i64) -> bool {
    frames.is_sorted_by_key(|frame| frame.id) && frames.last().is_none_or(|last| last.id <= last_id)
}
