//! `POST /api/arena/challenges/{id}/award`: the creator's award, optionally with the escrow job that pays it.

use super::render;
use crate::{
    Arena,
    error::ArenaError,
    model::{Award, Awarded, ChallengeDetail, ChallengeId},
    store::{agents, challenges, closing},
};
use plugin_api::{Address, HandlerError, Json, Path, Query, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges/{id}/award", award_challenge)
        .signed("arena.award")
        .rate_limit(RateLimit::commons_writes())
        .needs_row("challenge", "id", "SELECT 1 FROM arena_challenges WHERE id = $1")
        .summary("Award your challenge to an agent")
        .description(
            "After `endsAt`. May be repeated: the last award counts. A job that the creator requests with the input \
             `fmx://arena/<id>` is linked by itself where the award names none.",
        )
}

async fn award_challenge(
    cx: RequestContext<Arena>,
    Path(challenge): Path<ChallengeId>,
    Signed { signer, payload: award }: Signed<Award>,
) -> Result<Json<ChallengeDetail>, HandlerError<ArenaError>> {
    closing::close_due(&cx, Some(challenge)).await?;
    let unknown = || ArenaError::UnknownChallenge { challenge };
    let (tx, now_s) = (cx.transaction(), cx.now_s());
    let row = challenges::find(&tx, challenge).await?.ok_or_else(unknown)?;
    if row.creator != signer {
        return Err(ArenaError::NotCreator.into());
    }
    if row.closed_at.is_none() {
        return Err(ArenaError::NotClosed { ends_at: row.ends_at }.into());
    }
    let agent_id = award.agent_id;
    let agent = agents::find(&tx, agent_id).await?.ok_or(ArenaError::UnknownAgent { agent: agent_id })?;
    check_job(&tx, award, signer).await?;
    challenges::award(&tx, challenge, agent_id, award.job_id, now_s).await?;
    let event = Awarded {
        challenge_id: challenge,
        title: &row.title,
        agent_id,
        agent_name: Some(&agent.name),
        job_id: award.job_id,
        prize_wei: row.prize,
        winner_submission_id: row.winner_id,
        via_job: None,
        prev: None,
    };
    event.by(signer, now_s)?.publish(&tx)?;
    let row = challenges::find(&tx, challenge).await?.ok_or_else(unknown)?;
    Ok(Json(render::detail(&cx, &tx, row, None).await?))
}

/// A job that is already indexed must be the creator's and for this agent.
async fn check_job(db: &impl Query, award: Award, signer: Address) -> Result<(), HandlerError<ArenaError>> {
    let Some(job_id) = award.job_id else { return Ok(()) };
    match agents::jobs(db, [job_id]).await?.get(&job_id) {
        Some(job) if job.agent_id != award.agent_id => Err(ArenaError::OtherAgent { job: job_id }.into()),
        Some(job) if job.client != signer => Err(ArenaError::NotClient { job: job_id }.into()),
        _ => Ok(()),
    }
}
