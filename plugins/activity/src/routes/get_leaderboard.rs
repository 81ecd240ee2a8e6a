//! `GET /api/leaderboard`: the addresses with the highest scores, in the last 30 days and overall. Plugins scan whole tables for
//! their parts of it, so one result serves for a while.

use crate::{
    Activity,
    model::{LeaderboardEntry, WEIGHTS, Weights, rank},
};
use plugin_api::{
    Address, HandlerError, HostError, Json, JsonSchema, PluginContext, RequestContext, Route,
    extract::Limit,
    point::{self, LeaderboardInput},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Entries of a period that clients can read.
const ENTRIES_MAX: u32 = 200;
/// How long a result serves at least.
const TTL_S: u64 = 5;
/// How many times as long as it took to make a result serves: where it takes long, readers cost a tenth of the time.
const TTL_PER_COST: u64 = 10;
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
    /// Unix seconds; at most 5 ago, or ten times as long as it took to make.
    #[serde(rename = "generatedAt")]
    generated_at: i64,
    #[serde(skip)]
    ttl_s: i64,
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
    let is_fresh =
        |it: &&Arc<Leaderboard>| (it.generated_at..it.generated_at.saturating_add(it.ttl_s)).contains(&now_s);
    if let Some(leaderboard) = cached.as_ref().filter(is_fresh) {
        return Ok(leaderboard.clone());
    }
    let since_30d = now_s.saturating_sub(MONTH_S);
    let begun = Instant::now();
    let periods = Periods { month: rank_period(cx, Some(since_30d)).await?, all: rank_period(cx, None).await? };
    let ttl_s = ttl_s(begun.elapsed());
    let leaderboard = Arc::new(Leaderboard { periods, weights: WEIGHTS, since_30d, generated_at: now_s, ttl_s });
    *cached = Some(leaderboard.clone());
    Ok(leaderboard)
}

fn ttl_s(cost: Duration) -> i64 {
    let in_seconds = cost.as_secs().saturating_mul(TTL_PER_COST).max(TTL_S);
    i64::try_from(in_seconds).unwrap_or(i64::MAX)
}

/// Where a contributor gave its best only, one of them may have done more than what is among the best of each: then all
/// contributors are asked again, for those that come first by what is known.
/// Contributors leave labelled addresses out.
async fn rank_period(cx: &PluginContext<Activity>, since_s: Option<i64>) -> Result<Vec<LeaderboardEntry>, HostError> {
    let labelled = cx.labelled_addresses().await?;
    let all = LeaderboardInput { since_s, addresses: None, labelled };
    let best = collect(cx, &all).await?;
    if best.iter().all(|part| part.len() < LeaderboardInput::BEST) {
        return Ok(rank(best, ENTRIES_MAX as usize));
    }
    let addresses = rank(best, LeaderboardInput::BEST).into_iter().map(|entry| entry.author.address).collect();
    let parts = collect(cx, &LeaderboardInput { addresses: Some(addresses), ..all }).await?;
    Ok(rank(parts, ENTRIES_MAX as usize))
}

async fn collect(
    cx: &PluginContext<Activity>,
    input: &LeaderboardInput,
) -> Result<Vec<BTreeMap<Address, point::Metrics>>, HostError> {
    let parts = cx.collect(point::LEADERBOARD, input).await?;
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_serves_ten_times_as_long_as_it_took_and_five_seconds_at_least() {
        let ttl_of = |cost_s| ttl_s(Duration::from_secs(cost_s));
        assert_eq!([ttl_of(0), ttl_of(1), ttl_of(6), ttl_of(u64::MAX)], [5, 10, 60, i64::MAX]);
    }
}
