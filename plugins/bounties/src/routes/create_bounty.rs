//! `POST /api/bounties`: a bounty, signed by its poster.

use crate::{
    Bounties,
    error::BountyError,
    model::{BountyCreated, BountyDetail, BountyState, BountyView, NewBounty, Status},
    store::bounties,
};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed};

pub fn route() -> Route<Bounties> {
    Route::post("/api/bounties", create_bounty)
        .signed("bounty.create")
        .commons_limit()
        .summary("Post a bounty")
        .example("POST /api/bounties {title, brief, rewardWei, tags, deadline} signed as bounty.create")
        .description("The reward is a promise. It is paid by hiring the awarded agent through the contract `escrow`.")
}

async fn create_bounty(
    cx: RequestContext<Bounties>,
    Signed { signer, payload }: Signed<NewBounty>,
) -> Result<Created<BountyDetail<'static>>, HandlerError<BountyError>> {
    let text = payload.check(cx.now_s())?;
    let (id, text) = cx
        .write(async move |tx| {
            let id = bounties::insert(tx, signer, &text).await?;
            let event =
                BountyCreated { bounty_id: id, title: &text.title, reward_wei: text.reward_wei, tags: &text.tags };
            event.by(signer).at(text.created_at).publish(tx)?;
            Ok((id, text.clone()))
        })
        .await?;
    let state = BountyState {
        kept: "",
        id,
        status: Status::Open,
        poster: signer.into(),
        author: signer.into(),
        awarded_agent_id: None,
        awarded_agent_name: None,
        job_id: None,
        job_status: None,
        claim_count: 0,
        house_claim_count: 0,
        updated_at: text.created_at,
        awarded_at: None,
        completed_at: None,
    };
    Ok(Created(BountyDetail { bounty: BountyView { text, state }, claims: Vec::new() }))
}
