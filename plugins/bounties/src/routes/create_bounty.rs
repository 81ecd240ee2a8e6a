//! `POST /api/bounties`: a bounty, signed by its poster.

use crate::{
    Bounties,
    error::BountyError,
    model::{BountyCreated, BountyDetail, BountyState, BountyView, NewBounty, Status},
    store::bounties,
};
use plugin_api::{Created, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties", create_bounty)
        .signed("bounty.create")
        .rate_limit(RateLimit::commons_writes())
        .summary("Post a bounty")
        .example("POST /api/bounties {title, brief, rewardWei, tags, deadline} signed as bounty.create")
        .description("The reward is a promise. It is paid by hiring the awarded agent through the contract `escrow`.")
}

async fn create_bounty(
    cx: RequestContext<Bounties>,
    Signed { signer, payload }: Signed<NewBounty>,
) -> Result<Created<BountyDetail>, HandlerError<BountyError>> {
    let now_s = cx.now_s();
    let draft = payload.check(now_s)?;
    // Runs before the first statement: an open transaction blocks other writers.
    let poster = cx.authors([signer]).await?.get(signer);
    let tx = cx.transaction();
    let (id, text) = bounties::insert(&tx, signer, draft, now_s).await?;
    let created = BountyCreated { bounty_id: id, title: &text.title, reward_wei: text.reward_wei, tags: &text.tags };
    created.by(signer)?.at(now_s).publish(&tx)?;
    let state = BountyState {
        id,
        status: Status::Open,
        author: poster.clone(),
        poster,
        awarded_agent_id: None,
        awarded_agent_name: None,
        job_id: None,
        job_status: None,
        claim_count: 0,
        house_claim_count: 0,
        updated_at: now_s,
        awarded_at: None,
        completed_at: None,
    };
    Ok(Created(BountyDetail { bounty: BountyView { text, state }, claims: Vec::new() }))
}
