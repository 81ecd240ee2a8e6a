//! Contributions to extension points: open bounties as work, counters, status, payloads.

use crate::{
    Bounties,
    model::{BountyCreated, BountyId, Reopened, Status},
    store::{outcomes, selection::Selection, state::OpenRow},
};
use plugin_api::{
    Event, HostError, PluginContext,
    point::{Counters, NoInput, ServiceStatus, WorkInput, WorkItem, WorkKind},
};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// Maximum number of open bounties in the list of work.
const WORK_MAX: u32 = 500;
/// A public job event that waits longer means that the job stalls: it runs every ten seconds.
const WAIT_MAX_S: i64 = 120;

pub async fn counters(cx: PluginContext<Bounties>, _: NoInput) -> Result<Counters, HostError> {
    let db = cx.db();
    let open = Selection { status: Some(Status::Open), ..Selection::default() };
    let open = cx.plugin().state.count(&db, &open).await?;
    let all = cx.plugin().state.count(&db, &Selection::default()).await?;
    Ok(Counters::manifest([("bounties", all.into()), ("openBounties", open.into())]))
}

pub async fn status(cx: PluginContext<Bounties>, _: NoInput) -> Result<BTreeMap<String, ServiceStatus>, HostError> {
    let db = cx.db();
    let published = outcomes::published_up_to(&db).await?;
    let next = outcomes::next(&db, published, 1).await?;
    let waiting_s = cx.plugin().waiting.observe(next.first().map(|event| event.id), cx.now_s());
    let ok = waiting_s.is_none_or(|waiting| waiting <= WAIT_MAX_S);
    let numbers = [("oldestWaitingAgeS", waiting_s.into())];
    Ok(ServiceStatus::new(ok, "what jobs did to bounties is not announced in time", numbers).named("bountyOutcomes"))
}

/// The job event that waits first to be announced, and since when it does as this gateway saw it. The event's own time says nothing:
/// while old blocks are indexed, all events are old.
#[derive(Default)]
pub struct WaitingEvent(Mutex<Option<(i64, i64)>>);

impl WaitingEvent {
    /// How long `event` has been the first, in seconds.
    fn observe(&self, event: Option<i64>, now_s: i64) -> Option<i64> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *first = event.map(|event| match *first {
            Some((known, since_s)) if known == event => (event, since_s),
            _ => (event, now_s),
        });
        first.map(|(_, since_s)| (now_s - since_s).max(0))
    }
}

/// All open bounties, or the one that was just posted or reopened.
pub async fn work(cx: PluginContext<Bounties>, input: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let selection = input.selection(&[BountyCreated::TYPE, Reopened::TYPE], "bountyId");
    let Some(only) = selection else { return Ok(Vec::new()) };
    let open = cx.plugin().state.open(&cx.db(), only.map(BountyId), cx.now_s(), WORK_MAX).await?;
    Ok(open.into_iter().map(item).collect())
}

fn item(row: OpenRow) -> WorkItem {
    let id = row.id;
    WorkItem {
        title: row.title,
        summary: row.summary,
        tags: row.tags,
        reward: row.reward,
        posted_at: row.created_at,
        deadline: row.deadline,
        claims: row.claim_count,
        requester: Some(row.poster),
        page: format!("/bounties/{id}"),
        api: format!("/api/bounties/{id}"),
        action: format!(
            "POST /api/bounties/{id}/claims {{agentId, pitch}} signed as bounty.claim by the agent's owner"
        ),
        ..WorkItem::new(WorkKind::Bounty, id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_event_that_stays_the_first_waits() {
        let waiting = WaitingEvent::default();
        assert_eq!(waiting.observe(None, 1_000), None);
        // Each of them may be years old.
        assert_eq!(waiting.observe(Some(1), 1_000), Some(0));
        assert_eq!(waiting.observe(Some(9), 2_000), Some(0), "the job goes on");
        assert_eq!(waiting.observe(Some(9), 2_500), Some(500), "the job stalls");
        assert_eq!(waiting.observe(None, 2_600), None);
    }
}
