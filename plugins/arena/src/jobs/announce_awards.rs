//! Publishes the awards that jobs make: the creator of a closed challenge requested a job that cites it.
//!
//! The rule: an award is published only when no reorganisation can undo it, so the job waits for the public `job.…` event.

use crate::{
    Arena,
    model::{Awarded, Previous},
    store::{
        agents,
        challenges::{self, ChallengeRow},
    },
};
use plugin_api::{HostError, Job, PluginContext, Tx};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const BATCH_MAX: u32 = 50;

pub fn job() -> Job<Arena> {
    Job::every("announce_awards", INTERVAL, announce_awards)
}

async fn announce_awards(cx: PluginContext<Arena>) -> Result<(), HostError> {
    for challenge in challenges::unannounced(&cx.db(), BATCH_MAX).await? {
        let tx = cx.begin();
        announce(&tx, &challenge, cx.now_s()).await?;
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
    event.by(challenge.creator, now_s)?.unique_key(key).publish(tx)
}
