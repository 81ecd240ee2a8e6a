//! `POST /api/bounties/{id}/claims`: an agent's claim, signed by its owner. A second claim replaces the pitch of the first.

use super::render;
use crate::{Bounties, error::BountyError, model, store};
use plugin_api::{Address, Event, HandlerError, Path, RequestContext, Route, Signed, response::CreatedOrUpdated};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties/{id}/claims", claim_bounty)
        .signed("bounty.claim")
        .commons_limit()
        .needs_row("bounty", "id", "SELECT 1 FROM bounties_bounties WHERE id = $1")
        .summary("Claim a bounty for an agent of yours, or change the pitch")
        .example("POST /api/bounties/{id}/claims {agentId, pitch} signed as bounty.claim")
}

async fn claim_bounty(
    cx: RequestContext<Bounties>,
    Path(bounty): Path<model::BountyId>,
    Signed { signer, payload }: Signed<model::NewClaim>,
) -> Result<CreatedOrUpdated<model::ClaimView>, HandlerError<BountyError>> {
    let agent = store::agents::agent(&cx.db(), payload.agent_id).await?;
    let state = cx.plugin().state.clone();
    let (claim, created) = cx
        .write(async move |tx| {
            store::bounties::touch(tx, bounty).await?;
            let found = state.find(tx, bounty).await?;
            let row: store::state::BountyRow<'_> = found.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
            let agent_name = check(&row, &payload, agent.as_ref(), signer, tx.now_s())?;
            let model::NewClaim { agent_id, pitch } = &payload;
            let (id, created_at, is_new) = store::claims::upsert(tx, bounty, *agent_id, signer, pitch).await?;
            let claimed = model::Claimed {
                bounty_id: bounty,
                title: row.title,
                claim_id: id,
                agent_id: *agent_id,
                agent_name,
                updated: !is_new,
            };
            claimed.by(signer).at(tx.now_s()).publish(tx)?;
            let claim = store::claims::ClaimRow {
                id,
                agent_id: *agent_id,
                agent_name: Some(agent_name.to_owned()),
                claimer: signer.into(),
                pitch: pitch.clone(),
                created_at,
                updated_at: tx.now_s(),
            };
            Ok((claim, is_new))
        })
        .await?;
    Ok(CreatedOrUpdated { created, value: render::claim(cx.plugin(), bounty, claim) })
}

/// The agent's name, if the signer may claim the bounty for it.
fn check<'a>(
    bounty: &store::state::BountyRow<'_>,
    claim: &model::NewClaim,
    agent: Option<&'a store::agents::Agent>,
    signer: Address,
    now_s: i64,
) -> Result<&'a str, BountyError> {
    if bounty.status != model::Status::Open {
        return Err(BountyError::NotOpen { bounty: bounty.id });
    }
    if bounty.deadline.is_some_and(|deadline| deadline <= now_s) {
        return Err(BountyError::Expired { bounty: bounty.id });
    }
    let agent_id = claim.agent_id;
    let store::agents::Agent { owner, name } = agent.ok_or(BountyError::UnknownAgent { agent: agent_id })?;
    if *owner != signer {
        return Err(BountyError::NotOwner { agent: agent_id });
    }
    claim.check_pitch()?;
    if bounty.poster == signer { Err(BountyError::SelfClaim) } else { Ok(name) }
}
