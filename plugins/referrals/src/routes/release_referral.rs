//! `POST /api/referrals/payouts/release`: an operator releases a payout from the daily limit, or has a transfer repeated that failed for
//! good. Nobody else can do either.

use crate::{
    Referrals,
    error::ReleaseError,
    jobs::pay::{PAY_JOB, transfer},
    model::{ReferralView, Release, Side},
    store::{claims, transfers},
};
use plugin_api::{AgentId, HandlerError, Json, RequestContext, Route, Signed, Tx};

pub fn route() -> Route<Referrals> {
    Route::post("/api/referrals/payouts/release", release_referral)
        .signed("referral.release")
        .needs_setting("operators", &ReleaseError::NoOperators)
        .per_minute(60)
        .summary("Release a payout, or repeat a transfer that failed; for operators")
        .description(
            "Without `side`: the payout no longer waits for a day on which there is room among those that need no release. With `side` (`new` \
             or `ref`): the transfer to this owner, which failed for good, is sent again.",
        )
}

async fn release_referral(
    cx: RequestContext<Referrals>,
    Signed { signer, payload }: Signed<Release>,
) -> Result<Json<ReferralView>, HandlerError<ReleaseError>> {
    if !cx.plugin().operators.contains(&signer) {
        return Err(ReleaseError::NotOperator.into());
    }
    let (min_job, agent) = (cx.plugin().config.min_job_wei, payload.new_agent_id);
    let view = cx
        .write(async move |tx| {
            claims::find(tx, min_job, agent).await?.ok_or(ReleaseError::Unknown(agent))?;
            match payload.side {
                Some(side) => repeat(tx, agent, side).await?,
                None if claims::release(tx, agent).await? => {}
                None => return Err(ReleaseError::Nothing("the payout is on its way or done").into()),
            }
            Ok(claims::find(tx, min_job, agent).await?.ok_or(ReleaseError::Unknown(agent))?)
        })
        .await?;
    let (side, owner) = (payload.side.map_or("none", Side::name), signer);
    cx.info(&format!("the operator {owner} released the referral of agent {agent}, side: {side}"));
    cx.wake(PAY_JOB).await?;
    Ok(Json(view))
}

/// What failed is in no block and never will be, so it is paid once, however often it is repeated. Its part of the budget was never given
/// back.
async fn repeat(tx: &Tx, agent: AgentId, side: Side) -> Result<(), HandlerError<ReleaseError>> {
    let failed = transfers::failed(tx, agent, side).await?;
    let failed = failed.ok_or(ReleaseError::Nothing("no transfer to this side has failed"))?;
    let intent = transfer(agent, side, failed.attempt, failed.owner, failed.reward).record(tx).await?;
    Ok(transfers::repeat(tx, agent, side, failed.attempt, intent).await?)
}
