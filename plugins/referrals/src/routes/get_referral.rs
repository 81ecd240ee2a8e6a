//! `GET /api/referrals/{agentId}`: the referral of an agent.

use crate::{Referrals, error::UnknownReferral, model::ReferralView, store::claims};
use plugin_api::{AgentId, HandlerError, Json, Path, RequestContext, Route};

pub fn route() -> Route<Referrals> {
    Route::get("/api/referrals/{agentId}", get_referral)
        .public()
        .cached()
        .summary("Who brought an agent, and what became of the rewards")
        .example("GET /api/referrals/7")
}

async fn get_referral(
    cx: RequestContext<Referrals>,
    Path(agent): Path<AgentId>,
) -> Result<Json<ReferralView>, HandlerError<UnknownReferral>> {
    let found = claims::find(&cx.db(), cx.plugin().config.min_job_wei, agent).await?;
    Ok(Json(found.ok_or(UnknownReferral(agent))?))
}
