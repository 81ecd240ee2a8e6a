//! Publishes the awards that jobs make: the creator of a challenge requested a job that cites it.
//!
//! The rule: an award is published after the `job.requested` event, which becomes public when its block is deep enough. When a
//! deeper reorganisation takes the job away, the challenge is what it was before.

use crate::{Arena, model, store};
use plugin_api::{Event, HostError, Job, PluginContext, Tx};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10);
const BATCH_MAX: u32 = 50;

pub fn job() -> Job<Arena> {
    Job::every("announce_awards", INTERVAL, announce_awards)
}

async fn announce_awards(cx: PluginContext<Arena>) -> Result<(), HostError> {
    for challenge in store::awards::undone(&cx.db(), BATCH_MAX).await? {
        cx.write(async move |tx| store::awards::forget_announced(tx, challenge).await).await?;
    }
    for award in store::awards::unannounced(&cx.db(), BATCH_MAX).await? {
        cx.write(async move |tx| announce(tx, &award).await).await?;
    }
    Ok(())
}

async fn announce(tx: &Tx, award: &store::awards::JobAward) -> Result<(), HostError> {
    if !store::awards::mark_announced(tx, award).await? {
        return Ok(());
    }
    let event = model::ChallengeAwarded {
        challenge_id: award.challenge_id,
        title: &award.title,
        agent_id: award.agent_id,
        agent_name: award.agent_name.as_deref(),
        job_id: Some(award.job_id),
        prize_wei: award.prize,
        winner_submission_id: award.winner_id,
        via_job: Some(true),
        prev: award.award_agent.map(|agent_id| model::EarlierAward { agent_id, awarded_at: award.awarded_at }),
    };
    let key = format!("{}:{}:{}", model::ChallengeAwarded::TYPE, award.challenge_id, award.job_id);
    event.by(award.creator).at(tx.now_s()).unique_key(key).publish(tx)
}
