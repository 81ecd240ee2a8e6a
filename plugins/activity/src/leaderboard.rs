//! The leaderboard as it is gathered: what every plugin contributes, for each period. Gathering reads tables of people's
//! work from end to end, so one result serves readers for a while.

use crate::{
    Activity,
    model::{MONTH_S, Ranked, rank},
};
use plugin_api::{
    Address, Gateway, HostError,
    point::{self, LeaderboardInput, Metrics},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Entries of a period that can be read.
pub const ENTRIES_MAX: u32 = 200;
/// How long one result serves.
pub const KEPT_S: i64 = 5;

/// The best of each period.
pub struct Boards {
    pub generated_at: i64,
    pub month: Vec<Ranked>,
    pub all: Vec<Ranked>,
}

impl Boards {
    /// The first second that the last 30 days hold.
    pub fn month_begins(&self) -> i64 {
        self.generated_at.saturating_sub(MONTH_S)
    }
}

/// The latest result.
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

pub async fn boards(gateway: &Gateway<Activity>) -> Result<Arc<Boards>, HostError> {
    let now_s = gateway.now_s();
    if let Some(boards) = gateway.plugin().leaderboard.fresh(now_s) {
        return Ok(boards);
    }
    let month = period(gateway, Some(now_s.saturating_sub(MONTH_S))).await?;
    let all = period(gateway, None).await?;
    let boards = Arc::new(Boards { generated_at: now_s, month, all });
    gateway.plugin().leaderboard.keep(&boards);
    Ok(boards)
}

async fn period(gateway: &Gateway<Activity>, since_s: Option<i64>) -> Result<Vec<Ranked>, HostError> {
    let parts: Vec<(String, serde_json::Value)> =
        gateway.collect(point::LEADERBOARD, &LeaderboardInput { since_s }).await?;
    // One plugin that answers another shape does not empty the board.
    let read = |(plugin, part)| match serde_json::from_value::<BTreeMap<Address, Metrics>>(part) {
        Ok(metrics) => Some(metrics),
        Err(error) => {
            gateway.warn(&format!("{plugin}'s part of the leaderboard is left out: {error}"));
            None
        }
    };
    Ok(rank(parts.into_iter().filter_map(read), ENTRIES_MAX as usize))
}
