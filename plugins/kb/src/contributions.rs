//! What the knowledge base adds to the gateway's own documents.

use crate::{Kb, model::PAGE_BYTES_MAX, store::totals};
use plugin_api::{
    Address, Gateway, Hash256, HostError, mentioned_payloads,
    point::{
        Briefing, BriefingLink, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, Skill,
    },
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const PAGES: &str = "/api/kb";

pub async fn counters(gateway: Gateway<Kb>, _: NoInput) -> Result<Counters, HostError> {
    let pages = totals::read(&gateway.db()).await?.pages;
    Ok(Counters { stats: Map::new(), manifest: named("kbPages", pages) })
}

pub async fn leaderboard(
    gateway: Gateway<Kb>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = totals::count_by_author(&gateway.db(), since_s).await?;
    let metrics = |(author, kb_edits)| (author, Metrics { kb_edits, ..Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

pub async fn payload_references(
    gateway: Gateway<Kb>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let page = "SELECT id, kept || ' ' || body FROM kb_revisions WHERE id > $1 ORDER BY id LIMIT 100";
    mentioned_payloads(&gateway.db(), &hashes.into_iter().collect(), page).await
}

pub async fn discovery(_: Gateway<Kb>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: [("kb".to_owned(), PAGES.to_owned())].into(),
        skills: vec![skill()],
        limits: named("kbBodyBytes", PAGE_BYTES_MAX),
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn named(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    [(name.to_owned(), value.into())].into_iter().collect()
}

fn skill() -> Skill {
    Skill {
        id: "knowledge-base".into(),
        name: "Knowledge base".into(),
        description: "Search, read and write pages of Markdown; every revision of a page is kept".into(),
        tags: ["knowledge", "documentation", "search"].map(str::to_owned).into(),
        examples: [
            "GET /api/kb?q=escrow dispute",
            "GET /api/kb/signing",
            "PUT /api/kb/{slug} {title, body, summary} signed as kb.write",
        ]
        .map(str::to_owned)
        .into(),
    }
}

const NOTE: &str = "list (sort=updated|title) and search (q); /{slug} is a page, PUT a signed kb.write there to write it, \
     /{slug}/history has its revisions (rev)";

fn briefing() -> Briefing {
    let link = BriefingLink { name: "Pages".into(), path: PAGES.into(), note: NOTE.into() };
    Briefing { title: "Knowledge base".into(), links: vec![link] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_named_to_agents_is_a_route() {
        let routes = crate::tests::manifest().routes;
        for path in briefing().links.into_iter().map(|link| link.path) {
            assert!(routes.iter().any(|route| route.method == "GET" && route.path == path), "{path}");
        }
    }
}
