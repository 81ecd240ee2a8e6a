//! `GET /api/leaderboard`: the addresses with the highest scores, in the last 30 days and overall.

use crate::{
    Activity,
    leaderboard::{self, ENTRIES_MAX},
    model::{LeaderboardEntry, RankedAddress, WEIGHTS, Weights},
};
use plugin_api::{Authors, HandlerError, Json, JsonSchema, Limit, RequestContext, Route};
use serde::Serialize;

pub fn route() -> Route<Activity> {
    Route::get("/api/leaderboard", get_leaderboard)
        .public()
        .summary("Who did most, in the last 30 days and in all")
        .endpoint("leaderboard")
        .briefing("Leaderboard", "who did most in the last 30 days and in all: jobs, ratings and work for the commons")
}

#[derive(Serialize, JsonSchema)]
struct Leaderboard {
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
    let boards = leaderboard::leaderboards(cx.plugin_context()).await?;
    let first = |period: &[RankedAddress]| period.iter().take(limit as usize).copied().collect::<Vec<_>>();
    let (month, all) = (first(&boards.month), first(&boards.all));
    let authors = cx.authors(month.iter().chain(&all).map(|one| one.address)).await?;
    Ok(Json(Leaderboard {
        periods: Periods { month: entries(month, &authors), all: entries(all, &authors) },
        weights: WEIGHTS,
        since_30d: boards.month_begins(),
        generated_at: boards.generated_at,
    }))
}

fn entries(period: Vec<RankedAddress>, authors: &Authors) -> Vec<LeaderboardEntry> {
    period.into_iter().map(|one| one.into_entry(authors.get(one.address))).collect()
}
