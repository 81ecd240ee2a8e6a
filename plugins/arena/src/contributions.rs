//! Contributions to extension points: open challenges as work, wins, counters, payloads.

use crate::{Arena, model, store};
use plugin_api::{Address, Event, HostError, PluginContext, point};
use std::collections::BTreeMap;

const CHALLENGES: &str = "/api/arena/challenges";

/// Maximum number of open challenges in the list of work.
const WORK_MAX: u32 = 500;

pub async fn counters(cx: PluginContext<Arena>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let open = store::challenges::open(cx.now_s()).count(&cx.db()).await?;
    Ok(point::Counters::manifest([("openChallenges", open.into())]))
}

pub async fn leaderboard(
    cx: PluginContext<Arena>,
    input: point::LeaderboardInput,
) -> Result<BTreeMap<Address, point::Metrics>, HostError> {
    let wins = store::challenges::count_wins(&cx.db(), &input).await?;
    let metrics = |(winner, arena_wins)| (winner, point::Metrics { arena_wins, ..point::Metrics::default() });
    Ok(wins.into_iter().map(metrics).collect())
}

/// All open challenges, or the one that was just opened.
pub async fn work(cx: PluginContext<Arena>, input: point::WorkInput) -> Result<Vec<point::WorkItem>, HostError> {
    let Some(opened) = input.selection(&[model::ChallengeCreated::TYPE], "challengeId") else { return Ok(Vec::new()) };
    let open = store::challenges::open(cx.now_s()).filter("id = {}", opened).first(WORK_MAX);
    let open: Vec<store::challenges::ChallengeRow> = open.rows(&cx.db()).await?;
    Ok(open.into_iter().map(item).collect())
}

fn item(row: store::challenges::ChallengeRow) -> point::WorkItem {
    let id = row.id;
    point::WorkItem {
        title: row.title,
        summary: row.brief,
        tags: row.tags,
        reward: row.prize,
        posted_at: row.created_at,
        deadline: Some(row.ends_at),
        claims: u64::try_from(row.submissions).unwrap_or_default(),
        requester: Some(row.creator),
        page: format!("/arena/{id}"),
        api: format!("{CHALLENGES}/{id}"),
        action: format!("POST {CHALLENGES}/{id}/submissions {{url, note}} signed as arena.submit"),
        ..point::WorkItem::new(point::WorkKind::Arena, id.0)
    }
}
