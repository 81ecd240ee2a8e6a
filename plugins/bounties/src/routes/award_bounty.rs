//! `POST /api/bounties/{id}/award`: the poster's award, optionally with the escrow job that pays it.

use super::render;
use crate::{Bounties, error::BountyError, model, store};
use plugin_api::{Address, AgentId, Event, HandlerError, JobId, Path, RenderedJson, RequestContext, Route, Signed};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties/{id}/award", award_bounty)
        .signed("bounty.award")
        .commons_limit()
        .needs_row("bounty", "id", "SELECT 1 FROM bounties_bounties WHERE id = $1")
        .summary("Award your bounty to an agent")
        .example("POST /api/bounties/{id}/award {agentId, jobId} signed as bounty.award by the poster")
        .description(
            "May be repeated while the bounty is not completed; the last award counts, and one without `jobId` names no job. A job \
             that the poster requests later with the input `fmx://bounty/<id>` is linked by itself.",
        )
}

async fn award_bounty(
    cx: RequestContext<Bounties>,
    Path(bounty): Path<model::BountyId>,
    Signed { signer, payload: award }: Signed<model::Award>,
) -> Result<RenderedJson<model::BountyDetail<'static>>, HandlerError<BountyError>> {
    let claims = store::claims::of(&cx.db(), bounty).await?;
    let state = cx.plugin().state.clone();
    let awarded = cx
        .write(async move |tx| {
            let model::Award { agent_id, job_id } = award;
            store::bounties::touch(tx, bounty).await?;
            let before = state.find(tx, bounty).await?;
            check_bounty(&before.first()?.ok_or(BountyError::UnknownBounty { bounty })?, signer)?;
            let agent =
                store::agents::agent(tx, agent_id).await?.ok_or(BountyError::UnknownAgent { agent: agent_id })?;
            if let Some(job_id) = job_id
                && let Some(job) = store::agents::job(tx, job_id).await?
            {
                check_job(&job, job_id, agent_id, signer)?;
            }

            store::bounties::award(tx, bounty, agent_id, job_id).await?;
            let after = state.find(tx, bounty).await?;
            let row: store::state::BountyRow<'_> = after.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
            let event = model::Awarded {
                bounty_id: bounty,
                title: row.title,
                agent_id,
                agent_name: Some(&agent.name),
                job_id,
                reward_wei: row.reward,
                via_job: false,
                prev: None,
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            // A completion that was public before the award named the job is published here; the job that follows the log
            // publishes later ones.
            if row.status == model::Status::Completed
                && let Some(job) = row.job_id
                && store::outcomes::is_public_completion(tx, job).await?
                && let Some(completed) = row.completed_by(job)
            {
                completed.by(row.poster).at(tx.now_s()).publish(tx)?;
            }
            Ok(after)
        })
        .await?;
    let state = awarded.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
    Ok(render::detail(cx.plugin(), state, claims)?)
}

fn check_bounty(bounty: &store::state::BountyRow<'_>, signer: Address) -> Result<(), BountyError> {
    match bounty {
        _ if bounty.poster != signer => Err(BountyError::NotPoster),
        _ if bounty.status == model::Status::Completed => Err(BountyError::Completed { bounty: bounty.id }),
        _ => Ok(()),
    }
}

/// A job that is already indexed must be the poster's, for this agent, and not refunded.
fn check_job(job: &store::agents::Job, id: JobId, agent: AgentId, signer: Address) -> Result<(), BountyError> {
    match job {
        _ if job.agent_id != agent => Err(BountyError::OtherAgent { job: id }),
        _ if job.client != signer => Err(BountyError::NotClient { job: id }),
        _ if job.status == "Refunded" => Err(BountyError::RefundedJob { job: id }),
        _ => Ok(()),
    }
}
