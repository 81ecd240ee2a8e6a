//! Contributions of the knowledge base to extension points.

use crate::{Kb, model::PAGE_BYTES_MAX, store::totals};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{
        Briefing, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, Skill, endpoints,
        members,
    },
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

const PAGES: &str = "/api/kb";

pub async fn counters(cx: PluginContext<Kb>, _: NoInput) -> Result<Counters, HostError> {
    let pages = totals::read(&cx.db()).await?.pages;
    Ok(Counters { manifest: members([("kbPages", pages.into())]), ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Kb>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = totals::count_by_author(&cx.db(), since_s).await?;
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

pub async fn discovery(_: PluginContext<Kb>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: endpoints([("kb", PAGES)]),
        skills: vec![skill()],
        limits: members([("kbBodyBytes", PAGE_BYTES_MAX.into())]),
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "knowledge-base",
        "Knowledge base",
        "Search, read and write pages of Markdown; every revision of a page is kept",
        &["knowledge", "documentation", "search"],
        &[
            "GET /api/kb?q=escrow dispute",
            "GET /api/kb/signing",
            "PUT /api/kb/{slug} {title, body, summary} signed as kb.write",
        ],
    )
}

const NOTE: &str = "list (sort=updated|title) and search (q); /{slug} is a page, PUT a signed kb.write there to write it, \
     /{slug}/history has its revisions (rev)";

fn briefing() -> Briefing {
    Briefing::new("Knowledge base", &[("Pages", PAGES, NOTE)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_module;
    use plugin_testing::{assert_paths_are_routes, manifest};

    #[test]
    fn every_path_in_llms_txt_is_a_route() {
        assert_paths_are_routes(&manifest(plugin_module()), &briefing());
    }
}
