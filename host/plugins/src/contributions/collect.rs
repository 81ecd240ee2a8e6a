//! Collects the contributions of plugins to an extension point.

use crate::{ActivePlugin, dependencies_of};
use abi_stable::std_types::RResult;
use gateway_storage::read_tracking;
use plugin_api::abi::FfiBytes;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// What one plugin contributed to a point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contribution {
    pub plugin: String,
    pub value: serde_json::Value,
}

/// A contribution that takes longer is left out.
const CONTRIBUTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How deep contributions may collect other contributions: a circle of them would overflow the stack.
const COLLECT_DEPTH_MAX: u32 = 4;

tokio::task_local! {
    static COLLECT_DEPTH: u32;
}

/// Calls every plugin that contributes to `point`, all at once. A contribution that fails is logged and left out.
pub async fn collect(active: &[Arc<ActivePlugin>], point: &str, input: &[u8]) -> Vec<Contribution> {
    let depth = COLLECT_DEPTH.try_with(|depth| depth + 1).unwrap_or_default();
    if depth >= COLLECT_DEPTH_MAX {
        read_tracking::mark_uncacheable();
        tracing::error!(point, depth, "contributions collect each other in a circle; the innermost is left empty");
        return Vec::new();
    }
    let calls = active.iter().flat_map(|plugin| {
        let specs = plugin.manifest.contributions.iter().enumerate();
        let specs = specs.filter(|(_, spec)| spec.point == point);
        specs.map(move |(index, spec)| async move {
            if spec.cached {
                read_tracking::record(|revisions| dependencies_of(active, plugin, revisions));
            } else {
                read_tracking::mark_uncacheable();
            }
            let value = contribution(plugin, index, input.to_vec().into()).await;
            if value.is_none() {
                read_tracking::mark_uncacheable();
            }
            Some(Contribution { plugin: plugin.name().to_owned(), value: value? })
        })
    });
    let contributions = COLLECT_DEPTH.scope(depth, Box::pin(futures_util::future::join_all(calls))).await;
    contributions.into_iter().flatten().collect()
}

/// One contribution as JSON; failures are the plugin's faults.
pub async fn contribution(plugin: &Arc<ActivePlugin>, index: usize, input: FfiBytes) -> Option<serde_json::Value> {
    let _in_flight = plugin.acquire()?;
    let spec = plugin.manifest.contributions.get(index)?;
    let place = format!("point {}", spec.point);
    let call = plugin.object.contribute(u32::try_from(index).ok()?, input);
    match tokio::time::timeout(CONTRIBUTION_TIMEOUT, call).await {
        Ok(RResult::ROk(bytes)) => match serde_json::from_slice(&bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                plugin.handle.invalid_contribution(&spec.point, &error);
                None
            }
        },
        Ok(RResult::RErr(fault)) => {
            plugin.handle.fault(&place, &fault);
            None
        }
        Err(_elapsed) => {
            plugin.handle.timed_out(&place, CONTRIBUTION_TIMEOUT);
            None
        }
    }
}
