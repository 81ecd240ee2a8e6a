//! Contributions to extension points: names of authors, counters, discovery and others.

mod cv;
pub mod oracle;
mod work;

pub use cv::cv_claims;
pub use work::work;

use crate::{
    Agents,
    model::average,
    store::{
        agents::{self, TopAgent},
        authors,
        derived::totals,
        labelled, leaderboard as board, probes,
    },
};
use plugin_api::{Address, HostError, PluginContext, point};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub async fn authors(
    cx: PluginContext<Agents>,
    point::AuthorsInput { addresses }: point::AuthorsInput,
) -> Result<BTreeMap<Address, point::AuthorName>, HostError> {
    authors::names(&cx.db(), &addresses).await
}

pub async fn leaderboard(
    cx: PluginContext<Agents>,
    input: point::LeaderboardInput,
) -> Result<BTreeMap<Address, point::Metrics>, HostError> {
    board::metrics(&cx.db(), &input).await
}

pub async fn counters(cx: PluginContext<Agents>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let db = cx.db();
    let (agents, active) = agents::count(&db).await?;
    let totals = totals::find(&db).await?;
    let left_out = labelled::find(&db).await?;
    Ok(point::Counters::stats([
        ("agents", rest(agents, left_out.agents)),
        ("activeAgents", rest(active, left_out.active)),
        ("jobs", rest(totals.jobs, left_out.jobs)),
        ("jobsCompleted", rest(totals.jobs_completed, left_out.jobs_completed)),
        ("volumeWei", totals.volume.saturating_sub(left_out.volume).to_string().into()),
        ("feesWei", totals.fees.saturating_sub(left_out.fees).to_string().into()),
        ("validations", rest(totals.validations, left_out.validations)),
    ]))
}

/// Never negative: a reorganisation may have taken back what was counted a moment ago.
fn rest(total: i64, left_out: i64) -> Value {
    (total - left_out).max(0).into()
}

pub async fn status(
    cx: PluginContext<Agents>,
    _: point::NoInput,
) -> Result<BTreeMap<String, point::ServiceStatus>, HostError> {
    let now_s = cx.now_s();
    let progress = probes::progress(&cx.db(), now_s).await?;
    let interval_s = i64::from(cx.plugin().config.probe_interval_s);
    let oldest_age_s = progress.oldest_s.map(|at| (now_s - at).max(0));
    let ok = progress.is_healthy(interval_s, cx.plugin().started_s, now_s);
    let numbers = [
        ("agents", progress.agents.into()),
        ("probed", progress.probed.into()),
        ("online", progress.online.into()),
        ("oldestProbeAgeS", oldest_age_s.into()),
        ("intervalS", interval_s.into()),
    ];
    let cards = point::ServiceStatus::new(ok, "agents are not asked for their cards in time", numbers);
    let mut services = cards.named("agentCards");
    services.extend(oracle::status(&cx).await?);
    Ok(services)
}

/// The top agents, in manifest and agent card.
pub async fn discovery(cx: PluginContext<Agents>, _: point::NoInput) -> Result<point::Discovery, HostError> {
    let top: Vec<Value> = agents::top(&cx.db()).await?.into_iter().map(top_agent).collect();
    Ok(point::Discovery {
        manifest: point::members([("live", json!({ "topAgents": top }))]),
        card: point::members([("topAgents", top.into())]),
    })
}

fn top_agent(agent: TopAgent) -> Value {
    json!({
        "id": agent.id, "name": agent.name, "endpoint": agent.endpoint, "pricePerJob": agent.price_per_job,
        "jobsCompleted": agent.jobs_completed, "ratingAvg": average(agent.rating_sum, agent.rating_count),
        "online": agent.online,
    })
}
