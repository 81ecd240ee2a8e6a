//! Contributions to extension points: open challenges as work, wins, counters, payloads.

use crate::{
    Arena,
    model::{ChallengeCreated, ChallengeId},
    store::challenges::{self, ChallengeRow},
};
use plugin_api::{
    Address, Event, Hash256, HostError, PluginContext,
    point::{
        Counters, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, WorkInput, WorkItem, WorkKind, members,
    },
    referenced_payloads,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const CHALLENGES: &str = "/api/arena/challenges";

/// Maximum number of open challenges in the list of work.
const WORK_MAX: u32 = 500;

pub async fn counters(cx: PluginContext<Arena>, _: NoInput) -> Result<Counters, HostError> {
    let open = challenges::open(cx.now_s()).count(&cx.db()).await?;
    Ok(Counters { manifest: members([("openChallenges", open.into())]), ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Arena>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let wins = challenges::count_wins(&cx.db(), since_s).await?;
    let metrics = |(winner, arena_wins)| (winner, Metrics { arena_wins, ..Metrics::default() });
    Ok(wins.into_iter().map(metrics).collect())
}

/// All open challenges, or the one that was just opened.
pub async fn work(cx: PluginContext<Arena>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let mut open = challenges::open(cx.now_s());
    if let Some(event) = made_by {
        let created = Some(&event.data["challengeId"]).filter(|_| event.event_type == ChallengeCreated::TYPE);
        let Some(id) = created.and_then(Value::as_i64) else { return Ok(Vec::new()) };
        open = open.filter("id = {}", Some(ChallengeId(id)));
    }
    let open: Vec<ChallengeRow> = open.page(WORK_MAX, 0).rows(&cx.db()).await?;
    Ok(open.into_iter().map(item).collect())
}

fn item(row: ChallengeRow) -> WorkItem {
    let id = row.id;
    WorkItem {
        kind: WorkKind::Arena,
        ref_id: id.0,
        variant: None,
        title: row.title,
        summary: row.brief,
        tags: row.tags,
        reward: row.prize,
        posted_at: row.created_at,
        deadline: Some(row.ends_at),
        agent_id: None,
        claims: u64::try_from(row.submissions).unwrap_or_default(),
        requester: Some(row.creator),
        page: format!("/arena/{id}"),
        api: format!("{CHALLENGES}/{id}"),
        action: format!("POST {CHALLENGES}/{id}/submissions {{url, note}} signed as arena.submit"),
    }
}

/// Payloads that submissions consist of, or that texts of the arena reference.
pub async fn payload_references(
    cx: PluginContext<Arena>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let submissions = "SELECT id, coalesce(payload_hash, '') || ' ' || coalesce(url, '') || ' ' || note \
         FROM arena_submissions WHERE id > $1 ORDER BY id LIMIT 500";
    let challenges = "SELECT id, title || ' ' || brief || ' ' || rules \
         FROM arena_challenges WHERE id > $1 ORDER BY id LIMIT 200";
    let mut referenced = referenced_payloads(&db, &candidates, submissions).await?;
    referenced.extend(referenced_payloads(&db, &candidates, challenges).await?);
    Ok(referenced)
}
