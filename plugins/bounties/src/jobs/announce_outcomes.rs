//! Publishes the effects of jobs on bounties: a citing job awards one, its completion completes it, its refund reopens it.
//!
//! The rule: an effect is published only when no reorganisation can undo it. So this job follows the public events of jobs
//! (`job.…`), which the gateway holds back until their block is deep enough, and publishes each effect once.

use crate::{
    Bounties,
    model::{Awarded, Previous, Reopened, Status},
    store::{
        agents, citations,
        outcomes::{self, JobEvent},
        state::BountyRow,
    },
};
use plugin_api::{AgentId, Event, HostError, Job, JobId, PluginContext, Tx};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const EVENTS_PER_READ: u32 = 200;

pub fn job() -> Job<Bounties> {
    Job::every("announce_outcomes", INTERVAL, announce_outcomes)
}

async fn announce_outcomes(cx: PluginContext<Bounties>) -> Result<(), HostError> {
    loop {
        let db = cx.db();
        let mut before = outcomes::published_up_to(&db).await?;
        let events = outcomes::next(&db, before, EVENTS_PER_READ).await?;
        let is_last = events.len() < EVENTS_PER_READ as usize;
        for event in events {
            // The index of the plugin agents publishes job events; this plugin's own index may be behind it.
            let Some(cited) = citations::cited_by(&db, event.job).await? else { return Ok(()) };
            let (state, event_id) = (cx.plugin().state.clone(), event.id);
            let is_published = cx
                .write(async move |tx| {
                    if !outcomes::advance(tx, before, event.id).await? {
                        return Ok(false);
                    }
                    for bounty in outcomes::touched_by(tx, event.job, cited).await? {
                        let found = state.find(tx, bounty).await?;
                        if let Some(row) = found.first()? {
                            announce(tx, &row, &event).await?;
                        }
                    }
                    Ok(true)
                })
                .await?;
            if !is_published {
                return Ok(());
            }
            before = event_id;
        }
        if is_last {
            return Ok(());
        }
    }
}

async fn announce(tx: &Tx, bounty: &BountyRow<'_>, event: &JobEvent) -> Result<(), HostError> {
    match event.kind.as_str() {
        "job.requested" if bounty.job_id == Some(event.job) => award(tx, bounty, event),
        "job.requested" => award_until_refund(tx, bounty, event).await,
        "job.completed" if bounty.job_id == Some(event.job) && bounty.status == Status::Completed => {
            award(tx, bounty, event)?;
            let Some(completed) = bounty.completed_by(event.job) else { return Ok(()) };
            completed.by(bounty.poster).at(event.ts).publish(tx)
        }
        "job.refunded" => reopen(tx, bounty, event).await,
        _ => Ok(()),
    }
}

/// Publishes the award when the citing job makes it; the poster's own award was published when it was signed.
fn award(tx: &Tx, bounty: &BountyRow<'_>, event: &JobEvent) -> Result<(), HostError> {
    let (Some(agent_id), Some(job)) = (bounty.awarded_agent_id, bounty.job_id) else { return Ok(()) };
    if bounty.own_job == Some(job) && bounty.own_agent == Some(agent_id) {
        return Ok(());
    }
    publish_award(tx, bounty, (agent_id, bounty.awarded_agent_name), job, event.ts)
}

/// Publishes the award of a job that was refunded before its request became public; its refund follows.
async fn award_until_refund(tx: &Tx, bounty: &BountyRow<'_>, event: &JobEvent) -> Result<(), HostError> {
    let Some(job) = agents::job(tx, event.job).await? else { return Ok(()) };
    let is_of_poster = job.status == "Refunded" && job.client == bounty.poster;
    if !is_of_poster || bounty.own_job.is_some() || !outcomes::was_first(tx, bounty, event).await? {
        return Ok(());
    }
    let agent = agents::agent(tx, job.agent_id).await?;
    publish_award(tx, bounty, (job.agent_id, agent.as_ref().map(|agent| agent.name.as_str())), event.job, event.ts)
}

/// Once per job.
fn publish_award(
    tx: &Tx,
    bounty: &BountyRow<'_>,
    (agent_id, agent_name): (AgentId, Option<&str>),
    job: JobId,
    at_s: i64,
) -> Result<(), HostError> {
    let awarded = Awarded {
        bounty_id: bounty.id,
        title: bounty.title,
        agent_id,
        agent_name,
        job_id: Some(job),
        reward_wei: bounty.reward,
        via_job: true,
        prev: bounty.own_agent.map(|agent_id| Previous { agent_id, awarded_at: bounty.own_at }),
    };
    let key = format!("{}:{}:{job}", Awarded::TYPE, bounty.id);
    awarded.by(bounty.poster).unique_key(key).at(at_s).publish(tx)
}

/// A refund reopens the bounty, or the next job that cites it becomes the award.
async fn reopen(tx: &Tx, bounty: &BountyRow<'_>, event: &JobEvent) -> Result<(), HostError> {
    let Some(refunded) = agents::job(tx, event.job).await? else { return Ok(()) };
    if refunded.client != bounty.poster {
        return Ok(());
    }
    if bounty.status != Status::Open {
        // A job that was requested before this refund is as final as the refund.
        let is_certain =
            bounty.job_id.is_some() && bounty.own_at.is_none() && bounty.awarded_at.is_some_and(|at| at <= event.ts);
        return if is_certain { award(tx, bounty, event) } else { Ok(()) };
    }
    let agent = agents::agent(tx, refunded.agent_id).await?;
    let reopened = Reopened {
        bounty_id: bounty.id,
        title: bounty.title,
        agent_id: refunded.agent_id,
        agent_name: agent.as_ref().map(|agent| agent.name.as_str()),
        job_id: event.job,
        reason: "refunded",
    };
    reopened.by(bounty.poster).at(event.ts).publish(tx)
}
