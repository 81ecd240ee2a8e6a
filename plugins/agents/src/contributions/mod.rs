//! Contributions to extension points: names of authors, counters, discovery and others.

mod work;

pub use work::work;

use crate::{
    Agents,
    model::average,
    store::{
        agents::{self, TopAgent},
        authors, cards,
        derived::totals,
        leaderboard as board,
    },
};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    point::{
        AuthorName, AuthorsInput, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput,
        ServiceStatus, members,
    },
    referenced_payloads,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub async fn authors(
    cx: PluginContext<Agents>,
    AuthorsInput { addresses }: AuthorsInput,
) -> Result<BTreeMap<Address, AuthorName>, HostError> {
    authors::names(&cx.db(), &addresses).await
}

pub async fn leaderboard(
    cx: PluginContext<Agents>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    board::metrics(&cx.db(), since_s).await
}

/// Texts that may reference payloads, in pages by an integer key. For tables with another key, a page is all rows of the next
/// agent.
const TEXTS: [&str; 4] = [
    "SELECT id, input_hash || ' ' || input_uri || ' ' || coalesce(output_hash, '') || ' ' || coalesce(output_uri, '') \
     FROM agents_jobs WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT id, endpoint || ' ' || metadata_uri FROM agents_agents WHERE id > $1 ORDER BY id LIMIT 1000",
    "SELECT agent_id, request_uri || ' ' || coalesce(response_uri, '') FROM agents_validations \
     WHERE agent_id = (SELECT min(agent_id) FROM agents_validations WHERE agent_id > $1)",
    "SELECT agent_id, feedback_hash || ' ' || feedback_uri FROM agents_feedback \
     WHERE agent_id = (SELECT min(agent_id) FROM agents_feedback WHERE agent_id > $1)",
];

/// Payloads that jobs, agents, validations and feedback reference.
pub async fn payload_references(
    cx: PluginContext<Agents>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let mut referenced = BTreeSet::new();
    for page in TEXTS {
        referenced.extend(referenced_payloads(&db, &candidates, page).await?);
    }
    Ok(referenced)
}

pub async fn counters(cx: PluginContext<Agents>, _: NoInput) -> Result<Counters, HostError> {
    let db = cx.db();
    let (agents, active) = agents::count(&db).await?;
    let totals = totals::find(&db).await?;
    let stats = members([
        ("agents", agents.into()),
        ("activeAgents", active.into()),
        ("jobs", totals.jobs.into()),
        ("jobsCompleted", totals.jobs_completed.into()),
        ("volumeWei", totals.volume.to_string().into()),
        ("feesWei", totals.fees.to_string().into()),
        ("validations", totals.validations.into()),
    ]);
    Ok(Counters { stats, ..Counters::default() })
}

pub async fn status(cx: PluginContext<Agents>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let progress = cards::progress(&cx.db()).await?;
    let interval_s = i64::from(cx.plugin().config.probe_interval_s);
    let now_s = cx.now_s();
    let oldest_age_s = progress.oldest_s.map(|at| (now_s - at).max(0));
    let ok = progress.is_healthy(interval_s, cx.plugin().started_s, now_s);
    let detail = (!ok).then(|| "agents are not asked for their cards in time".to_owned());
    let numbers = members([
        ("agents", progress.agents.into()),
        ("probed", progress.probed.into()),
        ("online", progress.online.into()),
        ("oldestProbeAgeS", oldest_age_s.into()),
        ("intervalS", interval_s.into()),
    ]);
    Ok([("agentCards".to_owned(), ServiceStatus { ok, enabled: None, detail, numbers })].into())
}

/// The top agents, in manifest and agent card.
pub async fn discovery(cx: PluginContext<Agents>, _: NoInput) -> Result<Discovery, HostError> {
    let top: Vec<Value> = agents::top(&cx.db()).await?.into_iter().map(top_agent).collect();
    Ok(Discovery {
        manifest: members([("live", json!({ "topAgents": top }))]),
        card: members([("topAgents", top.into())]),
    })
}

fn top_agent(agent: TopAgent) -> Value {
    json!({
        "id": agent.id, "name": agent.name, "endpoint": agent.endpoint, "pricePerJob": agent.price_per_job,
        "jobsCompleted": agent.jobs_completed, "ratingAvg": average(agent.rating_sum, agent.rating_count),
        "online": agent.online,
    })
}
