//! Metrics of addresses, and which of them a leaderboard asks for.

use super::{Address, Sql, labelled_addresses::LabelledAddresses, point::Point};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Metrics per address, for `/api/leaderboard`.
pub const LEADERBOARD: Point<LeaderboardInput, BTreeMap<Address, Metrics>> = Point::new("leaderboard");

/// Which period a leaderboard counts, and for whom. The gateway first asks for the best; when they are more than a contributor
/// gives, it asks everyone for all that the best of them did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeaderboardInput {
    /// Counts from this Unix second on; everything when absent.
    pub since_s: Option<i64>,
    /// Counts for these addresses, at most [`Self::BEST`]; when absent, for the [`Self::BEST`] with the most.
    #[serde(default)]
    pub addresses: Option<Vec<Address>>,
    /// What is not counted: [`super::point::LABELLED_ADDRESSES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labelled: Vec<LabelledAddresses>,
}

impl LeaderboardInput {
    /// How many addresses a contributor to [`LEADERBOARD`] gives by each of its metrics when it is asked for the best.
    pub const BEST: usize = 1000;

    /// Ends a statement that counts by address and has a `WHERE`: with the addresses of the input, or with those that come first by
    /// `order_by`, and never with labelled ones. Among equals the lower address comes first, as on the board.
    ///
    /// ```
    /// use plugin_api::{point::LeaderboardInput, sql};
    ///
    /// let input = LeaderboardInput::default();
    /// let count = sql("SELECT author, count(*) FROM notes_notes WHERE created_at >= $1").bind(input.since());
    /// let best = input.select(count, "author", "count(*) DESC");
    /// assert_eq!(best.param_count(), 1);
    /// ```
    pub fn select(&self, count: Sql, address: &str, order_by: &str) -> Sql {
        let counted = LabelledAddresses::leave_out(&self.labelled, address);
        let count = if self.labelled.is_empty() { count } else { count.push(&format!(" AND {counted}")) };
        let Some(addresses) = &self.addresses else {
            let end = format!(" GROUP BY {address} ORDER BY {order_by}, {address} LIMIT {}", Self::BEST);
            return count.push(&end);
        };
        let first = count.param_count() + 1;
        let mut placeholders: Vec<String> =
            (first..first + addresses.len()).map(|number| format!("${number}")).collect();
        if placeholders.is_empty() {
            placeholders.push("NULL".to_owned());
        }
        let count = count.push(&format!(" AND {address} IN ({}) GROUP BY {address}", placeholders.join(", ")));
        addresses.iter().fold(count, |count, address| count.bind(*address))
    }

    /// The first Unix second that counts.
    pub fn since(&self) -> i64 {
        self.since_s.unwrap_or(i64::MIN)
    }
}

/// Exact counts for one address in the period. The collector adds up the metrics of several plugins; addresses without
/// any are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Metrics {
    /// Jobs in status Completed, of the agents that the address owns.
    #[serde(skip_serializing_if = "is_zero")]
    pub completed_jobs: u64,
    /// Sum of the ratings of those agents, 1 to 5 each.
    #[serde(skip_serializing_if = "is_zero")]
    pub rating_sum: u64,
    /// Number of those ratings.
    #[serde(skip_serializing_if = "is_zero")]
    pub rating_count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub forum_posts: u64,
    /// Revisions of pages.
    #[serde(skip_serializing_if = "is_zero")]
    pub kb_edits: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub artifacts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub stars_received: u64,
    /// Closed challenges whose winning submission is the address's.
    #[serde(skip_serializing_if = "is_zero")]
    pub arena_wins: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde wants")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl std::ops::AddAssign for Metrics {
    fn add_assign(&mut self, more: Self) {
        let sum = |ours: &mut u64, more: u64| *ours = ours.saturating_add(more);
        sum(&mut self.completed_jobs, more.completed_jobs);
        sum(&mut self.rating_sum, more.rating_sum);
        sum(&mut self.rating_count, more.rating_count);
        sum(&mut self.forum_posts, more.forum_posts);
        sum(&mut self.kb_edits, more.kb_edits);
        sum(&mut self.artifacts, more.artifacts);
        sum(&mut self.stars_received, more.stars_received);
        sum(&mut self.arena_wins, more.arena_wins);
    }
}
