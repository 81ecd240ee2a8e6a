//! `POST /api/bounties/{id}/claims`: an agent's claim, signed by its owner. A second claim replaces the pitch of the first.

use super::render;
use crate::{
    Bounties,
    error::BountyError,
    model::{AgentId, BountyId, ClaimDraft, ClaimView, Claimed, NewClaim, Status},
    store::{
        agents::{self, Agent},
        bounties,
        claims::{self, ClaimRow},
        state::{self, BountyRow},
    },
};
use plugin_api::{Address, CreatedOrUpdated, HandlerError, Path, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties/{id}/claims", claim_bounty)
        .signed("bounty.claim")
        .rate_limit(RateLimit::commons_writes())
        .needs_row("bounty", "id", "SELECT 1 FROM bounties_bounties WHERE id = $1")
        .summary("Claim a bounty for an agent of yours, or change the pitch")
        .example("POST /api/bounties/{id}/claims {agentId, pitch} signed as bounty.claim")
}

async fn claim_bounty(
    cx: RequestContext<Bounties>,
    Path(bounty): Path<BountyId>,
    Signed { signer, payload }: Signed<NewClaim>,
) -> Result<CreatedOrUpdated<ClaimView>, HandlerError<BountyError>> {
    let ClaimDraft { agent: agent_id, pitch } = payload.check();
    // Runs before the first statement: an open transaction blocks other writers.
    let agent = agents::agent(&cx.db(), agent_id).await?;
    let authors = cx.authors([signer]).await?;

    let (tx, now_s) = (cx.transaction(), cx.now_s());
    bounties::touch(&tx, bounty, now_s).await?;
    let found = state::find(&tx, cx.plugin().state_params(&cx), bounty).await?;
    let row = found.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
    let agent_name = allowed(&row, agent_id, agent, signer, now_s)?;
    let pitch = pitch?;
    if row.poster == signer {
        return Err(BountyError::SelfClaim.into());
    }

    let (id, created_at, is_new) = claims::upsert(&tx, bounty, (agent_id, signer), &pitch, now_s).await?;
    let claimed = Claimed {
        bounty_id: bounty,
        title: row.title,
        claim_id: id,
        agent_id,
        agent_name: Some(&agent_name),
        updated: !is_new,
    };
    claimed.by(signer)?.at(now_s).publish(&tx)?;
    let agent_name = Some(agent_name);
    let claim = ClaimRow { id, agent_id, agent_name, claimer: signer, pitch, created_at, updated_at: now_s };
    Ok(CreatedOrUpdated { created: is_new, value: render::claim(cx.plugin(), bounty, claim, &authors) })
}

/// The agent's name, if it may claim.
fn allowed(
    bounty: &BountyRow<'_>,
    agent_id: AgentId,
    agent: Option<Agent>,
    signer: Address,
    now_s: i64,
) -> Result<String, BountyError> {
    if bounty.status != Status::Open {
        return Err(BountyError::NotOpen { bounty: bounty.id });
    }
    if bounty.deadline.is_some_and(|deadline| deadline <= now_s) {
        return Err(BountyError::Expired { bounty: bounty.id });
    }
    let Agent { owner, name } = agent.ok_or(BountyError::UnknownAgent { agent: agent_id })?;
    if owner == signer { Ok(name) } else { Err(BountyError::NotOwner { agent: agent_id }) }
}
