//! Contributions to extension points: open bounties as work, counters, status, payloads.

use crate::{
    Bounties,
    model::{BountyId, Status},
    store::{
        bounties, outcomes,
        state::{self, Filter, OpenRow},
    },
};
use plugin_api::{
    Hash256, HostError, PluginContext,
    point::{Counters, NoInput, PayloadReferencesInput, ServiceStatus, WorkInput, WorkItem, WorkKind, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

const BOUNTIES: &str = "/api/bounties";
/// Maximum number of open bounties in the list of work.
const WORK_MAX: u32 = 500;
/// A public job event that waits longer means that the job stalls: it runs every ten seconds.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Bounties>, _: NoInput) -> Result<Counters, HostError> {
    let db = cx.db();
    let open = Filter { status: Some(Status::Open), ..Filter::default() };
    let open = state::count(&db, cx.plugin().state_params(&cx), &open).await?;
    let manifest = members([("bounties", bounties::count(&db).await?.into()), ("openBounties", open.into())]);
    Ok(Counters { manifest, ..Counters::default() })
}

pub async fn status(cx: PluginContext<Bounties>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let db = cx.db();
    let published = outcomes::published_up_to(&db).await?;
    let next = outcomes::next(&db, published, 1).await?;
    let waiting_s = next.first().map(|event| (cx.now_s() - event.ts).max(0));
    let ok = waiting_s.is_none_or(|waiting| waiting <= WAIT_MAX_S);
    let detail = (!ok).then(|| "what jobs did to bounties is not announced in time".to_owned());
    let numbers = members([("oldestWaitingAgeS", waiting_s.into())]);
    Ok([("bountyOutcomes".to_owned(), ServiceStatus { ok, enabled: None, detail, numbers })].into())
}

/// All open bounties, or the one that was just posted or reopened.
pub async fn work(cx: PluginContext<Bounties>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let (db, state_params, now_s) = (cx.db(), cx.plugin().state_params(&cx), cx.now_s());
    let Some(event) = made_by else {
        return Ok(state::open(&db, state_params, now_s, WORK_MAX).await?.into_iter().map(item).collect());
    };
    if !matches!(event.event_type.as_str(), "bounty.create" | "bounty.reopen") {
        return Ok(Vec::new());
    }
    let Some(bounty) = event.data["bountyId"].as_i64().map(BountyId) else { return Ok(Vec::new()) };
    Ok(state::open_one(&db, state_params, bounty, now_s).await?.into_iter().map(item).collect())
}

fn item(row: OpenRow) -> WorkItem {
    let id = row.id;
    WorkItem {
        kind: WorkKind::Bounty,
        ref_id: id.0,
        variant: None,
        title: row.title,
        summary: row.summary,
        tags: row.tags,
        reward: row.reward,
        posted_at: row.created_at,
        deadline: row.deadline,
        agent_id: None,
        claims: row.claims,
        requester: Some(row.poster),
        page: format!("/bounties/{id}"),
        api: format!("{BOUNTIES}/{id}"),
        action: format!("POST {BOUNTIES}/{id}/claims {{agentId, pitch}} signed as bounty.claim by the agent's owner"),
    }
}

pub async fn payload_references(
    cx: PluginContext<Bounties>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let briefs = "SELECT id, title || ' ' || brief FROM bounties_bounties WHERE id > $1 ORDER BY id LIMIT 200";
    let pitches = "SELECT id, pitch FROM bounties_claims WHERE id > $1 ORDER BY id LIMIT 500";
    let mut referenced = referenced_payloads(&db, &candidates, briefs).await?;
    referenced.extend(referenced_payloads(&db, &candidates, pitches).await?);
    Ok(referenced)
}
