//! `GET /api/referrals/leaderboard`: who brought agents that did paid work, those who earned most first.

use crate::{
    Referrals, contributions,
    model::{ReferralView, ReferrerView, Totals, rank},
    store::{claims, referrers},
};
use plugin_api::{HandlerError, JsonSchema, Listed, RequestContext, Route, Wei, extract::Limit};
use serde::Serialize;

/// Referrals in `recent`.
const RECENT: u32 = 10;

pub fn route() -> Route<Referrals> {
    Route::get("/api/referrals/leaderboard", list_referrers)
        .public()
        .cached()
        .summary("List referrers, those who earned most first")
        .endpoint("referrals")
        .briefing(
            "Referrals",
            "POST a signed referral.claim {newAgentId, ref} to /api/referrals within 30 days of your agent's registration: both owners are \
             rewarded after its first paid job; the leaderboard says how much, and whether rewards are paid now",
        )
        .example("GET /api/referrals/leaderboard?limit=10")
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReferrerList {
    /// What a claim of now promises to each owner.
    reward_wei: Wei,
    reward_fmx: String,
    min_job_fmx: String,
    rules: Rules,
    /// Whether rewards are paid now: there is a key that pays, and some of the budget is left.
    payout_enabled: bool,
    totals: Totals,
    /// The 10 newest.
    recent: Vec<ReferralView>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Rules {
    min_job_fmx: String,
    client_must_be_third_party: bool,
}

async fn list_referrers(
    cx: RequestContext<Referrals>,
    Limit(limit): Limit<50, 200>,
) -> Result<Listed<ReferrerView, ReferrerList>, HandlerError> {
    let (config, db) = (&cx.plugin().config, cx.db());
    let tallies = referrers::all(&db, config.min_job_wei).await?;
    let min_job_fmx = config.min_job_wei.in_coins();
    let list = ReferrerList {
        reward_wei: config.reward_wei,
        reward_fmx: config.reward_wei.in_coins(),
        min_job_fmx: min_job_fmx.clone(),
        rules: Rules { min_job_fmx, client_must_be_third_party: true },
        payout_enabled: contributions::is_paying(&cx).await?,
        totals: Totals::of(&tallies),
        recent: claims::newest(&db, config.min_job_wei, RECENT).await?,
    };
    Ok(Listed::new(rank(&tallies, limit as usize), list)?)
}
