//! Contributions to extension points: open bounties as work, counters, status, payloads.

use crate::{
    Bounties,
    model::{BountyCreated, BountyId, Reopened, Status},
    store::{bounties::BOUNTIES, outcomes, selection::Selection, state::OpenRow},
};
use plugin_api::{
    Event, Hash256, HostError, PluginContext,
    point::{Counters, NoInput, PayloadReferencesInput, ServiceStatus, WorkInput, WorkItem, WorkKind, members},
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of open bounties in the list of work.
const WORK_MAX: u32 = 500;
/// A public job event that waits longer means that the job stalls: it runs every ten seconds.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Bounties>, _: NoInput) -> Result<Counters, HostError> {
    let db = cx.db();
    let open = Selection { status: Some(Status::Open), ..Selection::default() };
    let open = cx.plugin().state.count(&db, &open).await?;
    let manifest = members([("bounties", BOUNTIES.count(&db).await?.into()), ("openBounties", open.into())]);
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
    let only = match &made_by {
        None => None,
        Some(event) if [BountyCreated::TYPE, Reopened::TYPE].contains(&event.event_type.as_str()) => {
            let Some(bounty) = event.data["bountyId"].as_i64() else { return Ok(Vec::new()) };
            Some(BountyId(bounty))
        }
        Some(_) => return Ok(Vec::new()),
    };
    let open = cx.plugin().state.open(&cx.db(), only, cx.now_s(), WORK_MAX).await?;
    Ok(open.into_iter().map(item).collect())
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
        claims: row.claim_count,
        requester: Some(row.poster),
        page: format!("/bounties/{id}"),
        api: format!("/api/bounties/{id}"),
        action: format!(
            "POST /api/bounties/{id}/claims {{agentId, pitch}} signed as bounty.claim by the agent's owner"
        ),
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
