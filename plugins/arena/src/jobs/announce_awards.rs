//! Publishes the awards that follow from jobs: the creator of a closed challenge requested a job that cites it.
//!
//! The rule: only what will not be undone is published, so it waits until the job's own event is public.

use crate::{
    Arena,
    model::{Awarded, Previous},
    store::{
        agents,
        challenges::{self, ChallengeRow},
    },
};
use plugin_api::{Gateway, HostError, Job, Tx};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const AT_ONCE: u32 = 50;

pub fn job() -> Job<Arena> {
    Job::every("announce_awards", INTERVAL, announce_awards)
}

async fn announce_awards(gateway: Gateway<Arena>) -> Result<(), HostError> {
    for challenge in challenges::unannounced(&gateway.db(), AT_ONCE).await? {
        let tx = gateway.begin();
        announce(&tx, &challenge, gateway.now_s()).await?;
        tx.commit().await?;
    }
    Ok(())
}

async fn announce(tx: &Tx, challenge: &ChallengeRow, now_s: i64) -> Result<(), HostError> {
    let Some((agent_id, job)) = challenge.awardee().and_then(|awardee| Some((awardee.agent, awardee.job?))) else {
        return Ok(());
    };
    if !challenges::announce(tx, challenge.id, job).await? {
        return Ok(());
    }
    let agent = agents::find(tx, agent_id).await?;
    let event = Awarded {
        challenge_id: challenge.id,
        title: &challenge.title,
        agent_id,
        agent_name: agent.as_ref().map(|agent| agent.name.as_str()),
        job_id: Some(job),
        prize_wei: challenge.prize,
        winner_submission_id: challenge.winner_id,
        via_job: Some(true),
        prev: challenge.award_agent.map(|agent_id| Previous { agent_id, awarded_at: challenge.awarded_at }),
    };
    let key = format!("arena.award:{}:{job}", challenge.id);
    event.by(challenge.creator, now_s)?.once(key).publish(tx)
}
