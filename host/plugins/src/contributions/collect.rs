//! Collects the contributions of plugins to an extension point.

use crate::{
    ActivePlugin, ActiveSet,
    bounds::{CONTRIBUTION_BYTES_MAX, excess},
    dependencies_of,
    polls::GateClosed,
};
use abi_stable::std_types::RResult;
use bytes::Bytes;
use gateway_storage::read_tracking;
use plugin_api::{Address, Hash256, abi::FfiBytes, point};
use serde::{Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// What one plugin contributed to a point: the plugin's own JSON, which only its reader builds values from.
#[derive(Clone, Serialize)]
pub struct Contribution {
    #[serde(serialize_with = "name")]
    pub plugin: Arc<ActivePlugin>,
    pub value: Box<RawValue>,
}

fn name<S: Serializer>(plugin: &ActivePlugin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(plugin.name())
}

impl Contribution {
    /// The value as the type of its point; another shape is a fault of the plugin.
    pub fn decode<T: DeserializeOwned>(&self, point: &str) -> Option<T> {
        match serde_json::from_str(self.value.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.plugin.handle.invalid_contribution(point, &error);
                None
            }
        }
    }
}

impl Contribution {
    /// Whether it is what readers of this point expect; another shape is a fault of the plugin. Points of plugins' own have any.
    pub fn has_shape_of(&self, point: &str) -> bool {
        match point {
            point::AUTHORS => self.decode::<BTreeMap<Address, point::AuthorName>>(point).is_some(),
            point::DISCOVERY => self.decode::<point::Discovery>(point).is_some(),
            point::LEADERBOARD => self.decode::<BTreeMap<Address, point::Metrics>>(point).is_some(),
            point::PAYLOAD_REFERENCES => self.decode::<Vec<Hash256>>(point).is_some(),
            point::STATS => self.decode::<point::Counters>(point).is_some(),
            point::STATUS => self.decode::<BTreeMap<String, point::ServiceStatus>>(point).is_some(),
            point::WORK => self.decode::<Vec<point::WorkItem>>(point).is_some(),
            _ => true,
        }
    }
}

/// A contribution that takes longer is left out.
const CONTRIBUTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How deep contributions may collect other contributions: a circle of them would overflow the stack.
const COLLECT_DEPTH_MAX: u32 = 4;

tokio::task_local! {
    static COLLECT_DEPTH: u32;
}

/// Calls every plugin that contributes to `point`, all at once. A contribution that fails is logged and left out.
pub async fn collect(active: &ActiveSet, point: &str, input: &Bytes) -> Vec<Contribution> {
    let depth = COLLECT_DEPTH.try_with(|depth| depth + 1).unwrap_or_default();
    if depth >= COLLECT_DEPTH_MAX {
        read_tracking::mark_uncacheable();
        tracing::error!(point, depth, "contributions collect each other in a circle; the innermost is left empty");
        return Vec::new();
    }
    let contributions = match active.contributors(point) {
        [] => return Vec::new(),
        [(plugin, index)] => {
            let only = Box::pin(contribution(active, plugin, *index, FfiBytes::from_owner(input.clone())));
            vec![COLLECT_DEPTH.scope(depth, only).await]
        }
        several => {
            let calls = several
                .iter()
                .map(|(plugin, index)| contribution(active, plugin, *index, FfiBytes::from_owner(input.clone())));
            COLLECT_DEPTH.scope(depth, Box::pin(futures_util::future::join_all(calls))).await
        }
    };
    contributions.into_iter().flatten().collect()
}

/// One contribution, if it is JSON; failures are the plugin's faults.
async fn contribution(
    active: &ActiveSet,
    plugin: &Arc<ActivePlugin>,
    index: u32,
    input: FfiBytes,
) -> Option<Contribution> {
    let spec = plugin.manifest.contributions.get(index as usize)?;
    if spec.cached {
        read_tracking::record(|revisions| dependencies_of(active, plugin, revisions));
    } else {
        read_tracking::mark_uncacheable();
    }
    let value = call(plugin, &spec.point, index, input).await;
    if value.is_none() {
        read_tracking::mark_uncacheable();
    }
    Some(Contribution { plugin: plugin.clone(), value: value? })
}

async fn call(plugin: &Arc<ActivePlugin>, point: &str, index: u32, input: FfiBytes) -> Option<Box<RawValue>> {
    let _in_flight = plugin.acquire()?;
    let operation = plugin.operations.contribution(index)?;
    let probe = plugin.handle.admit(operation).ok()?;
    let call = plugin.call(operation.place, || plugin.object.contribute(index, input));
    match tokio::time::timeout(CONTRIBUTION_TIMEOUT, call).await {
        Ok(Ok(RResult::ROk(bytes))) => {
            if let Some(reason) = excess("a contribution", bytes.len(), CONTRIBUTION_BYTES_MAX) {
                plugin.handle.error(&format!("point {point}"), reason);
                return None;
            }
            match serde_json::from_slice(&bytes) {
                Ok(value) => {
                    plugin.handle.end_probe(operation, probe);
                    Some(value)
                }
                Err(error) => {
                    plugin.handle.invalid_contribution(point, &error);
                    None
                }
            }
        }
        Ok(Ok(RResult::RErr(fault))) => {
            plugin.handle.fault(&format!("point {point}"), &fault);
            None
        }
        Ok(Err(GateClosed)) => None,
        Err(_elapsed) => {
            plugin.handle.timed_out(&format!("point {point}"), CONTRIBUTION_TIMEOUT);
            None
        }
    }
}
