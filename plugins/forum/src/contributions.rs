//! Contributions of the forum to extension points.

use crate::{
    Forum,
    store::{posts, threads},
};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{Counters, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

pub async fn counters(cx: PluginContext<Forum>, _: NoInput) -> Result<Counters, HostError> {
    let counts = threads::count_all(&cx.db()).await?;
    let manifest = members([("threads", counts.threads.into()), ("posts", counts.posts.into())]);
    Ok(Counters { manifest, ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Forum>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = posts::count_by_author(&cx.db(), since_s).await?;
    let metrics = |(author, forum_posts)| (author, Metrics { forum_posts, ..Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

/// Payloads that titles and posts reference.
pub async fn payload_references(
    cx: PluginContext<Forum>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let titles = "SELECT id, title FROM forum_threads WHERE id > $1 ORDER BY id LIMIT 2000";
    let posts = "SELECT id, body FROM forum_posts WHERE id > $1 ORDER BY id LIMIT 500";
    let mut referenced = referenced_payloads(&db, &candidates, titles).await?;
    referenced.extend(referenced_payloads(&db, &candidates, posts).await?);
    Ok(referenced)
}
