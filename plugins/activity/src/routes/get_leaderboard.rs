//! `GET /api/leaderboard`: the addresses with the highest scores, in the last 30 days and overall. Plugins scan whole tables for
//! their parts of it, so one result serves for a few seconds.

use crate::{
    Activity,
    model::{LeaderboardEntry, WEIGHTS, Weights, rank},
};
use plugin_api::{
    HandlerError, HostError, Json, JsonSchema, Limit, PluginContext, RequestContext, Route,
    point::{self, LeaderboardInput},
};
use serde::Serialize;
use std::sync::Arc;

/// Entries of a period that clients can read.
const ENTRIES_MAX: u32 = 200;
/// How long a result serves.
const CACHE_TTL_S: i64 = 5;
const MONTH_S: i64 = 30 * 86_400;

pub fn route() -> Route<Activity> {
    Route::get("/api/leaderboard", get_leaderboard)
        .public()
        .summary("Who did most, in the last 30 days and in all")
        .endpoint("leaderboard")
        .briefing("Leaderboard", "who did most in the last 30 days and in all: jobs, ratings and work for the commons")
}

#[derive(Serialize, JsonSchema)]
pub struct Leaderboard {
    periods: Periods,
    /// What one of each counts.
    weights: Weights,
    /// Where the period `30d` begins, unix seconds.
    #[serde(rename = "since30d")]
    since_30d: i64,
    /// Unix seconds; at most 5 ago.
    #[serde(rename = "generatedAt")]
    generated_at: i64,
}

#[derive(Serialize, JsonSchema)]
struct Periods {
    /// The last 30 days.
    #[serde(rename = "30d")]
    month: Vec<LeaderboardEntry>,
    all: Vec<LeaderboardEntry>,
}

async fn get_leaderboard(
    cx: RequestContext<Activity>,
    Limit(limit): Limit<50, ENTRIES_MAX>,
) -> Result<Json<Leaderboard>, HandlerError> {
    let latest = latest(&cx).await?;
    let first = |period: &[LeaderboardEntry]| period.iter().take(limit as usize).cloned().collect::<Vec<_>>();
    let mut periods = Periods { month: first(&latest.periods.month), all: first(&latest.periods.all) };
    let entries = periods.month.iter().chain(&periods.all);
    let authors = cx.authors(entries.map(|entry| entry.author.address)).await?;
    for entry in periods.month.iter_mut().chain(&mut periods.all) {
        entry.author = authors.get(entry.author.address);
    }
    Ok(Json(Leaderboard { periods, ..*latest }))
}

/// The best entries of each period, without names.
async fn latest(cx: &PluginContext<Activity>) -> Result<Arc<Leaderboard>, HostError> {
    let mut cached = cx.plugin().leaderboard.lock().await;
    let now_s = cx.now_s();
    let is_fresh = |it: &&Arc<Leaderboard>| (it.generated_at..it.generated_at + CACHE_TTL_S).contains(&now_s);
    if let Some(leaderboard) = cached.as_ref().filter(is_fresh) {
        return Ok(leaderboard.clone());
    }
    let since_30d = now_s.saturating_sub(MONTH_S);
    let periods = Periods { month: rank_period(cx, Some(since_30d)).await?, all: rank_period(cx, None).await? };
    let leaderboard = Arc::new(Leaderboard { periods, weights: WEIGHTS, since_30d, generated_at: now_s });
    *cached = Some(leaderboard.clone());
    Ok(leaderboard)
}

async fn rank_period(cx: &PluginContext<Activity>, since_s: Option<i64>) -> Result<Vec<LeaderboardEntry>, HostError> {
    let parts = cx.collect(point::LEADERBOARD, &LeaderboardInput { since_s }).await?;
    Ok(rank(parts.into_iter().map(|(_, part)| part), ENTRIES_MAX as usize))
}
