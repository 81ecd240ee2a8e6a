//! `GET /api/referrals/by/{agentId}`: the agents that named this one as their referrer, the newest claim first.

use crate::{
    Referrals,
    model::{ReferralView, Totals},
    store::{claims, derived, referrers},
};
use plugin_api::{AgentId, HandlerError, JsonSchema, Listed, Page, Path, RequestContext, Route, Wei};
use serde::Serialize;

pub fn route() -> Route<Referrals> {
    Route::get("/api/referrals/by/{agentId}", list_agent_referrals)
        .public()
        .cached()
        .summary("List the agents that one has brought, the newest first")
        .example("GET /api/referrals/by/1")
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentReferralList {
    agent_id: AgentId,
    agent_name: Option<String>,
    /// How many there are, on all pages: the sum of the three that follow.
    total: i64,
    paid: i64,
    pending: i64,
    registered: i64,
    /// What the agent's owners were paid.
    paid_wei: Wei,
    /// What a claim of now promises to each owner.
    reward_wei: Wei,
    min_job_fmx: String,
}

async fn list_agent_referrals(
    cx: RequestContext<Referrals>,
    Path(agent): Path<AgentId>,
    Page { limit, offset }: Page<200, 200>,
) -> Result<Listed<ReferralView, AgentReferralList>, HandlerError> {
    let (config, db) = (&cx.plugin().config, cx.db());
    let Totals { referred, paid, pending, paid_wei, .. } =
        Totals::of(&referrers::of(&db, config.min_job_wei, agent).await?);
    let items = claims::of_referrer(&db, config.min_job_wei, agent, (limit, offset.offset()?)).await?;
    let list = AgentReferralList {
        agent_id: agent,
        agent_name: derived::agent(&db, agent).await?.map(|agent| agent.name),
        total: referred,
        paid,
        pending,
        registered: referred - paid - pending,
        paid_wei,
        reward_wei: config.reward_wei,
        min_job_fmx: config.min_job_wei.in_coins(),
    };
    Ok(Listed::new(items, list)?)
}
