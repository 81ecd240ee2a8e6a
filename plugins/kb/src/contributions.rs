//! Contributions of the knowledge base to extension points.

use crate::{Kb, store};
use plugin_api::{Address, HostError, PluginContext, point};
use std::collections::BTreeMap;

pub async fn counters(cx: PluginContext<Kb>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let pages = store::pages::totals(&cx.db()).await?.pages;
    Ok(point::Counters::manifest([("kbPages", pages.into())]))
}

pub async fn leaderboard(
    cx: PluginContext<Kb>,
    input: point::LeaderboardInput,
) -> Result<BTreeMap<Address, point::Metrics>, HostError> {
    let counts = store::revisions::count_by_author(&cx.db(), &input).await?;
    let metrics = |(author, kb_edits)| (author, point::Metrics { kb_edits, ..point::Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}
