//! Gathers the leaderboard: every plugin's contribution, for each period. Plugins scan whole tables for it, so the result is
//! cached for a few seconds.

use crate::{
    Activity,
    model::{MONTH_S, Ranked, rank},
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
pub const KEPT_S: i64 = 5;

/// The best entries of each period.
pub struct Boards {
    pub generated_at: i64,
    pub month: Vec<Ranked>,
    pub all: Vec<Ranked>,
}

impl Boards {
    /// First second of the last 30 days.
    pub fn month_begins(&self) -> i64 {
        self.generated_at.saturating_sub(MONTH_S)
    }
}

/// Cache of the latest result.
#[derive(Default)]
pub struct Kept(Mutex<Option<Arc<Boards>>>);

impl Kept {
    fn fresh(&self, now_s: i64) -> Option<Arc<Boards>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone().filter(|boards| (boards.generated_at..boards.generated_at + KEPT_S).contains(&now_s))
    }

    fn keep(&self, boards: &Arc<Boards>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(boards.clone());
    }
}

pub async fn boards(cx: &PluginContext<Activity>) -> Result<Arc<Boards>, HostError> {
    let now_s = cx.now_s();
    if let Some(boards) = cx.plugin().leaderboard.fresh(now_s) {
        return Ok(boards);
    }
    let month = period(cx, Some(now_s.saturating_sub(MONTH_S))).await?;
    let all = period(cx, None).await?;
    let boards = Arc::new(Boards { generated_at: now_s, month, all });
    cx.plugin().leaderboard.keep(&boards);
    Ok(boards)
}

async fn period(cx: &PluginContext<Activity>, since_s: Option<i64>) -> Result<Vec<Ranked>, HostError> {
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
