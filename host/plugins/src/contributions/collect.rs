//! Collects the contributions of plugins to an extension point.

use crate::{
    bounds::{CONTRIBUTION_BYTES_MAX, excess},
    calls::CallDepth,
    plugin::{ActivePlugin, ActiveSet, dependencies_of, invalid_contribution},
};
use bytes::Bytes;
use gateway_storage::read_tracking;
use plugin_api::{
    abi::FfiBytes,
    host::CV_CLAIMS_SHAPE,
    point::{self, Point},
};
use serde::{Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::{sync::Arc, time::Duration};

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
    pub fn decode<I, O: DeserializeOwned>(&self, point: Point<I, O>) -> Option<O> {
        match serde_json::from_str(self.value.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.plugin.handle.invalid_contribution(point.name(), &error.to_string());
                None
            }
        }
    }

    /// Whether it is what readers of this point expect; another shape is a fault of the plugin. Contributions to
    /// plugins' own points are compared with their declared type before.
    pub(crate) fn has_shape_of(&self, point: &str) -> bool {
        let fits = self
            .fits(point, point::AUTHORS)
            .or_else(|| self.fits(point, point::AUDIT))
            .or_else(|| self.fits(point, CV_CLAIMS_SHAPE))
            .or_else(|| self.fits(point, point::DISCOVERY))
            .or_else(|| self.fits(point, point::LABELLED_ADDRESSES).map(|fits| fits && self.names_own_view()))
            .or_else(|| self.fits(point, point::LEADERBOARD))
            .or_else(|| self.fits(point, point::PAYLOAD_REFERENCES))
            .or_else(|| self.fits(point, point::STATS))
            .or_else(|| self.fits(point, point::STATUS))
            .or_else(|| self.fits(point, point::WORK));
        fits.unwrap_or(true)
    }

    /// Others read the view: one that the plugin does not publish would fail them.
    fn names_own_view(&self) -> bool {
        let Some(labelled) = self.decode(point::LABELLED_ADDRESSES) else { return false };
        let is_own = self.plugin.manifest.views.contains(&labelled.view);
        if !is_own {
            let message = format!("the plugin publishes no view `{}`", labelled.view);
            self.plugin.handle.invalid_contribution(point::LABELLED_ADDRESSES.name(), &message);
        }
        is_own
    }

    /// `None` when it is another point's.
    fn fits<I, O: DeserializeOwned>(&self, point: &str, known: Point<I, O>) -> Option<bool> {
        (point == known.name()).then(|| self.decode(known).is_some())
    }
}

/// A contribution that takes longer is left out.
const CONTRIBUTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Calls every plugin that contributes to `point`, all at once. A contribution that fails is logged and left out.
pub(crate) async fn collect(active: &ActiveSet, point: &str, input: &Bytes) -> Vec<Contribution> {
    let Some(depth) = CallDepth::enter() else {
        read_tracking::mark_uncacheable();
        tracing::error!(point, "contributions collect each other in a circle; the innermost is left empty");
        return Vec::new();
    };
    let contributions = match active.contributors(point) {
        [] => return Vec::new(),
        [(plugin, index)] => {
            let only = Box::pin(contribution(active, plugin, *index, FfiBytes::from_owner(input.clone())));
            vec![depth.scope(only).await]
        }
        several => {
            let calls = several
                .iter()
                .map(|(plugin, index)| contribution(active, plugin, *index, FfiBytes::from_owner(input.clone())));
            depth.scope(Box::pin(futures_util::future::join_all(calls))).await
        }
    };
    contributions.into_iter().flatten().collect()
}

/// Calls this plugin alone.
pub(crate) async fn collect_from(active: &ActiveSet, plugin: &str, point: &str, input: &Bytes) -> Option<Contribution> {
    let (plugin, index) = active.contributors(point).iter().find(|(contributor, _)| contributor.name() == plugin)?;
    contribution(active, plugin, *index, FfiBytes::from_owner(input.clone())).await
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
    let contribution = call(plugin, &spec.point, index, input).await;
    if contribution.is_none() {
        read_tracking::mark_uncacheable();
    }
    contribution
}

async fn call(plugin: &Arc<ActivePlugin>, point: &str, index: u32, input: FfiBytes) -> Option<Contribution> {
    let call = plugin.begin_call(plugin.operations.contribution(index)?).ok()?;
    let contribute = || plugin.object.contribute(index, input);
    let bytes = call.run(CONTRIBUTION_TIMEOUT, contribute, || false).await.ok()?;
    let value = call.check(decode(plugin, index, &bytes)).ok()?;
    let contribution = Contribution { plugin: plugin.clone(), value };
    // The call that decides about a pause must give what its point is for, too.
    if call.is_probe() && !contribution.has_shape_of(point) {
        return None;
    }
    call.end();
    Some(contribution)
}

fn decode(plugin: &ActivePlugin, index: u32, bytes: &[u8]) -> Result<Box<RawValue>, String> {
    excess("a contribution", bytes.len(), CONTRIBUTION_BYTES_MAX).map_or(Ok(()), Err)?;
    let value = serde_json::from_slice::<Box<RawValue>>(bytes).map_err(|error| error.to_string());
    let checked = value.and_then(|value| plugin.outputs.check_contribution(index, bytes).map(|()| value));
    checked.map_err(|reason| invalid_contribution(&reason))
}
