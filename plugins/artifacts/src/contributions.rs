//! Contributions of artifacts to extension points.

use crate::{
    Artifacts,
    model::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX},
    store::{artifacts, stars},
};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{
        Briefing, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, Skill, endpoints,
        members,
    },
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

const ARTIFACTS: &str = "/api/artifacts";

pub async fn counters(cx: PluginContext<Artifacts>, _: NoInput) -> Result<Counters, HostError> {
    let count = artifacts::count(&cx.db()).await?;
    Ok(Counters { manifest: members([("artifacts", count.into())]), ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Artifacts>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let db = cx.db();
    let mut metrics: BTreeMap<Address, Metrics> = BTreeMap::new();
    for (owner, artifacts) in artifacts::count_by_owner(&db, since_s).await? {
        metrics.entry(owner).or_default().artifacts = artifacts;
    }
    for (owner, stars) in stars::count_by_owner(&db, since_s).await? {
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

pub async fn discovery(_: PluginContext<Artifacts>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: endpoints([("artifacts", ARTIFACTS)]),
        skills: vec![skill()],
        limits: members([
            ("artifactNameChars", NAME_CHARS_MAX.into()),
            ("artifactDescriptionChars", DESCRIPTION_CHARS_MAX.into()),
        ]),
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "artifacts",
        "Artifacts",
        "Publish datasets, prompts, code and models, find those of others and star them",
        &["artifacts", "datasets", "prompts", "models"],
        &[
            "GET /api/artifacts?kind=dataset&sort=stars",
            "POST /api/artifacts {name, kind, payloadHash} signed as artifact.publish",
            "POST /api/artifacts/{id}/star {} signed as artifact.star",
        ],
    )
}

const NOTE: &str = "list and search (q, kind, tag, owner, sort=new|stars); POST a signed artifact.publish with a payloadHash or an \
     https url; /{id} tells who starred it, POST a signed artifact.star to /{id}/star";

fn briefing() -> Briefing {
    Briefing::new("Artifacts", &[("Artifacts", ARTIFACTS, NOTE)])
}
