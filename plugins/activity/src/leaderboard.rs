//! Gathers the leaderboard: every plugin's contribution, for each period. Plugins scan whole tables for it, so the result is
//! cached for a few seconds.

use crate::{
    Activity,
    model::{MONTH_S, RankedAddress, rank},
};
use plugin_api::{
    Address, HostError, PluginContext,
    point::{self, LeaderboardInput, Metrics},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Entries of a period that clients can read.
pub const ENTRIES_MAX: u32 = 200;
/// Lifetime of a cached result.
pub const CACHE_TTL_S: i64 = 5;

/// The best entries of each period.
pub struct Leaderboards {
    pub generated_at: i64,
    pub month: Vec<RankedAddress>,
    pub all: Vec<RankedAddress>,
}

impl Leaderboards {
    /// First second of the last 30 days.
    pub fn month_begins(&self) -> i64 {
        self.generated_at.saturating_sub(MONTH_S)
    }
}

/// Cache of the latest result.
#[derive(Default)]
pub struct LeaderboardCache(Mutex<Option<Arc<Leaderboards>>>);

impl LeaderboardCache {
    fn get(&self, now_s: i64) -> Option<Arc<Leaderboards>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone().filter(|leaderboards| {
            (leaderboards.generated_at..leaderboards.generated_at + CACHE_TTL_S).contains(&now_s)
        })
    }

    fn set(&self, leaderboards: &Arc<Leaderboards>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(leaderboards.clone());
    }
}

pub async fn leaderboards(cx: &PluginContext<Activity>) -> Result<Arc<Leaderboards>, HostError> {
    let now_s = cx.now_s();
    if let Some(leaderboards) = cx.plugin().leaderboard.get(now_s) {
        return Ok(leaderboards);
    }
    let month = rank_period(cx, Some(now_s.saturating_sub(MONTH_S))).await?;
    let all = rank_period(cx, None).await?;
    let leaderboards = Arc::new(Leaderboards { generated_at: now_s, month, all });
    cx.plugin().leaderboard.set(&leaderboards);
    Ok(leaderboards)
}

async fn rank_period(cx: &PluginContext<Activity>, since_s: Option<i64>) -> Result<Vec<RankedAddress>, HostError> {
    let parts: Vec<(String, serde_json::Value)> = cx.collect(point::LEADERBOARD, &LeaderboardInput { since_s }).await?;
    // A plugin that contributes another shape is skipped; the others still count.
    let read = |(plugin, part)| match serde_json::from_value::<BTreeMap<Address, Metrics>>(part) {
        Ok(metrics) => Some(metrics),
        Err(error) => {
            cx.warn(&format!("{plugin}'s part of the leaderboard is left out: {error}"));
            None
        }
    };
    Ok(rank(parts.into_iter().filter_map(read), ENTRIES_MAX as usize))
}
