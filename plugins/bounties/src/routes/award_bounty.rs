//! `POST /api/bounties/{id}/award`: the poster's award, optionally with the escrow job that pays it.

use super::render;
use crate::{
    Bounties,
    error::BountyError,
    jobs::announce_outcomes,
    model::{AgentId, Award, Awarded, BountyDetail, BountyId, Status},
    store::{
        agents::{self, Job},
        bounties, claims, outcomes,
        state::{self, BountyRow},
    },
};
use plugin_api::{Address, HandlerError, Path, RenderedJson, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties/{id}/award", award_bounty)
        .signed("bounty.award")
        .rate_limit(RateLimit::commons_writes())
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
    Path(bounty): Path<BountyId>,
    Signed { signer, payload: award }: Signed<Award>,
) -> Result<RenderedJson<BountyDetail>, HandlerError<BountyError>> {
    // Runs before the first statement: an open transaction blocks other writers.
    let db = cx.db();
    let claims = claims::of(&db, bounty).await?;
    let authors = cx.authors(claims.iter().map(|claim| claim.claimer).chain([signer])).await?;
    let state_params = cx.plugin().state_params(&cx);

    let (tx, now_s) = (cx.transaction(), cx.now_s());
    bounties::touch(&tx, bounty, now_s).await?;
    let before = state::find(&tx, state_params, bounty).await?;
    check_bounty(&before.first()?.ok_or(BountyError::UnknownBounty { bounty })?, signer)?;
    let agent_id = award.agent_id;
    let agent = agents::agent(&tx, agent_id).await?.ok_or(BountyError::UnknownAgent { agent: agent_id })?;
    if let Some(job_id) = award.job_id
        && let Some(job) = agents::job(&tx, job_id).await?
    {
        check_job(&job, &award, signer)?;
    }

    bounties::award(&tx, bounty, agent_id, award.job_id, now_s).await?;
    let found = state::find(&tx, state_params, bounty).await?;
    let row = found.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
    let awarded = Awarded {
        bounty_id: bounty,
        title: row.title,
        agent_id,
        agent_name: Some(&agent.name),
        job_id: award.job_id,
        reward_wei: row.reward,
        via_job: None,
        prev: None,
    };
    awarded.by(signer)?.at(now_s).publish(&tx)?;
    // A completion that was public before the award named the job is published here; the job that follows the log publishes later ones.
    if row.status == Status::Completed
        && let Some(job) = row.job
        && outcomes::is_public_completion(&tx, job).await?
        && let Some(completed) = announce_outcomes::complete(&row, job, now_s)?
    {
        completed.publish(&tx)?;
    }
    Ok(RenderedJson::object(row.kept, &render::detail(cx.plugin(), &row, claims, &authors))?)
}

fn check_bounty(bounty: &BountyRow<'_>, signer: Address) -> Result<(), BountyError> {
    if bounty.poster != signer {
        return Err(BountyError::NotPoster);
    }
    if bounty.status == Status::Completed {
        return Err(BountyError::Completed { bounty: bounty.id });
    }
    Ok(())
}

/// A job that is already indexed must be the poster's, for this agent, and not refunded.
fn check_job(job: &Job, award: &Award, signer: Address) -> Result<(), BountyError> {
    let Award { agent_id, job_id: Some(job_id) } = *award else { return Ok(()) };
    let is_for = |agent: AgentId| job.agent_id == agent;
    match job {
        _ if !is_for(agent_id) => Err(BountyError::OtherAgent { job: job_id }),
        _ if job.client != signer => Err(BountyError::NotClient { job: job_id }),
        _ if job.status == "Refunded" => Err(BountyError::RefundedJob { job: job_id }),
        _ => Ok(()),
    }
}
