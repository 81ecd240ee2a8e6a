//! Contributions of artifacts to extension points.

use crate::{Artifacts, store};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{Counters, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

pub async fn counters(cx: PluginContext<Artifacts>, _: NoInput) -> Result<Counters, HostError> {
    let count = store::ARTIFACTS.count(&cx.db()).await?;
    Ok(Counters { manifest: members([("artifacts", count.into())]), ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Artifacts>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let db = cx.db();
    let mut metrics: BTreeMap<Address, Metrics> = BTreeMap::new();
    for (owner, artifacts) in store::count_by_owner(&db, since_s).await? {
        metrics.entry(owner).or_default().artifacts = artifacts;
    }
    for (owner, stars) in store::count_stars_by_owner(&db, since_s).await? {
        metrics.entry(owner).or_default().stars_received = stars;
    }
    Ok(metrics)
}

/// Payloads that artifacts consist of, or that their texts reference.
pub async fn payload_references(
    cx: PluginContext<Artifacts>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, kept FROM artifacts_artifacts WHERE id > $1 ORDER BY id LIMIT 500";
    referenced_payloads(&cx.db(), &hashes.into_iter().collect(), page).await
}
