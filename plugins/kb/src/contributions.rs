//! Contributions of the knowledge base to extension points.

use crate::{
    Kb,
    store::{pages, revisions},
};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{Counters, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

pub async fn counters(cx: PluginContext<Kb>, _: NoInput) -> Result<Counters, HostError> {
    let pages = pages::totals(&cx.db()).await?.pages;
    Ok(Counters { manifest: members([("kbPages", pages.into())]), ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Kb>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = revisions::count_by_author(&cx.db(), since_s).await?;
    let metrics = |(author, kb_edits)| (author, Metrics { kb_edits, ..Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

pub async fn payload_references(
    cx: PluginContext<Kb>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, kept || ' ' || body FROM kb_revisions WHERE id > $1 ORDER BY id LIMIT 100";
    referenced_payloads(&cx.db(), &hashes.into_iter().collect(), page).await
}
