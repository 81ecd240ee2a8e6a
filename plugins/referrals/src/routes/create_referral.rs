//! `POST /api/referrals`: who brought a new agent, signed by the agent's owner. Recorded once.

use crate::{
    Referrals,
    error::ClaimError,
    model::{Claim, NewReferral, ReferralClaimed, ReferralView},
    store::{
        claims,
        derived::{self, Agent},
    },
};
use plugin_api::{AgentId, Created, Event, HandlerError, HostError, HostErrorCode, RequestContext, Route, Signed, Tx};

pub fn route() -> Route<Referrals> {
    Route::post("/api/referrals", create_referral)
        .signed("referral.claim")
        .commons_limit()
        .summary("Say which agent brought your new one")
        .example("POST /api/referrals {newAgentId, ref} signed as referral.claim by the new agent's owner")
        .description(
            "Once for each agent, within 30 days of its registration. When the agent completes its first job of at least minJobFmx for a \
             client that is neither owner nor an account of theirs, both owners are rewarded: the owners of now, with the reward of now.",
        )
}

async fn create_referral(
    cx: RequestContext<Referrals>,
    Signed { signer, payload }: Signed<NewReferral>,
) -> Result<Created<ReferralView>, HandlerError<ClaimError>> {
    let config = &cx.plugin().config;
    let (reward, min_job, claim_s, days) = (config.reward_wei, config.min_job_wei, config.claim_s(), config.claim_days);
    let view = cx
        .write(async move |tx| {
            let NewReferral { new_agent_id, referrer } = payload;
            let new = find(tx, new_agent_id).await?;
            if new.owner != signer {
                return Err(ClaimError::NotOwner(new_agent_id).into());
            }
            if new_agent_id == referrer {
                return Err(ClaimError::SelfReferral.into());
            }
            let of_referrer = find(tx, referrer).await?;
            if new.owner == of_referrer.owner {
                return Err(ClaimError::SameOwner.into());
            }
            if tx.now_s().saturating_sub(new.registered_at) > claim_s {
                return Err(ClaimError::TooLate { agent: new_agent_id, days }.into());
            }
            let (new_owner, ref_owner) = (new.owner, of_referrer.owner);
            let claim = Claim { new_agent: new_agent_id, ref_agent: referrer, new_owner, ref_owner, reward };
            if !claims::insert(tx, &claim).await? {
                return Err(ClaimError::AlreadyReferred(new_agent_id).into());
            }
            let claimed = ReferralClaimed {
                new_agent_id,
                new_agent_name: &new.name,
                ref_agent_id: referrer,
                ref_agent_name: &of_referrer.name,
                reward_wei: reward,
            };
            claimed.by(signer).publish(tx)?;
            let stored = claims::find(tx, min_job, new_agent_id).await?;
            Ok(stored.ok_or_else(|| HostError::new(HostErrorCode::Internal, "the claim was not stored"))?)
        })
        .await?;
    Ok(Created(view))
}

async fn find(tx: &Tx, agent: AgentId) -> Result<Agent, HandlerError<ClaimError>> {
    Ok(derived::agent(tx, agent).await?.ok_or(ClaimError::UnknownAgent(agent))?)
}
