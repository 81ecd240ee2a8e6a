//! `POST /api/arena/challenges/{id}/award`: the creator's award, optionally with the escrow job that pays it.

use crate::{Arena, error::ArenaError, model, store};
use plugin_api::{Address, Event, HandlerError, Json, Path, RequestContext, Route, Signed, Tx};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges/{id}/award", award_challenge)
        .signed("arena.award")
        .commons_limit()
        .needs_row("challenge", "id", "SELECT 1 FROM arena_challenges WHERE id = $1")
        .summary("Award your challenge to an agent")
        .description(
            "After `endsAt`. May be repeated: the last award counts. A job that the creator requests with the input \
             `fmx://arena/<id>` is linked by itself where the award names none.",
        )
}

async fn award_challenge(
    cx: RequestContext<Arena>,
    Path(challenge): Path<model::ChallengeId>,
    Signed { signer, payload: award }: Signed<model::Award>,
) -> Result<Json<model::ChallengeDetail>, HandlerError<ArenaError>> {
    store::closing::close_due(&cx, Some(challenge)).await?;
    let detail = cx
        .write(async move |tx| {
            let row =
                store::challenges::find(tx, challenge).await?.ok_or(ArenaError::UnknownChallenge { challenge })?;
            if row.creator != signer {
                return Err(ArenaError::NotCreator.into());
            }
            if row.closed_at.is_none() {
                return Err(ArenaError::NotClosed { ends_at: row.ends_at }.into());
            }
            let agent = store::agents::find(tx, award.agent_id).await?;
            let agent = agent.ok_or(ArenaError::UnknownAgent { agent: award.agent_id })?;
            check_job(tx, award, signer).await?;
            store::awards::store_signed(tx, challenge, award).await?;
            let event = model::ChallengeAwarded {
                challenge_id: challenge,
                title: &row.title,
                agent_id: award.agent_id,
                agent_name: Some(&agent.name),
                job_id: award.job_id,
                prize_wei: row.prize,
                winner_submission_id: row.winner_id,
                via_job: None,
                prev: None,
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            let detail = store::challenges::find_detail(tx, challenge, None).await?;
            Ok(detail.ok_or(ArenaError::UnknownChallenge { challenge })?)
        })
        .await?;
    Ok(Json(detail))
}

/// A job that is already indexed must be the creator's and for this agent.
async fn check_job(tx: &Tx, award: model::Award, signer: Address) -> Result<(), HandlerError<ArenaError>> {
    let Some(job) = award.job_id else { return Ok(()) };
    match store::agents::find_job(tx, job).await? {
        Some((agent, _)) if agent != award.agent_id => Err(ArenaError::OtherAgent { job }.into()),
        Some((_, client)) if client != signer => Err(ArenaError::NotClient { job }.into()),
        _ => Ok(()),
    }
}
