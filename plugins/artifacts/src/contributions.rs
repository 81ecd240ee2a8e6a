//! Contributions of artifacts to extension points.

use crate::{Artifacts, store};
use plugin_api::{Address, HostError, PluginContext, point};
use std::collections::BTreeMap;

pub async fn counters(cx: PluginContext<Artifacts>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let count = store::count(&cx.db()).await?;
    Ok(point::Counters::manifest([("artifacts", count.into())]))
}

pub async fn leaderboard(
    cx: PluginContext<Artifacts>,
    input: point::LeaderboardInput,
) -> Result<BTreeMap<Address, point::Metrics>, HostError> {
    let db = cx.db();
    let mut metrics: BTreeMap<Address, point::Metrics> = BTreeMap::new();
    for (owner, artifacts) in store::count_by_owner(&db, &input).await? {
        metrics.entry(owner).or_default().artifacts = artifacts;
    }
    for (owner, stars) in store::count_stars_by_owner(&db, &input).await? {
        metrics.entry(owner).or_default().stars_received = stars;
    }
    Ok(metrics)
}
