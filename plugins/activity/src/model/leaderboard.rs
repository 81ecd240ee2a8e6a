//! Weights, scores and ranks of the leaderboard. Rule: a score follows from the members of its own entry, so that a client
//! can recompute it; it is computed in hundredths, never as a float.

use plugin_api::{Address, JsonSchema, point};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::{borrow::Cow, cmp::Reverse, collections::BTreeMap};

/// Points per unit of each metric.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Weights {
    completed_jobs: u64,
    forum_posts: u64,
    kb_edits: u64,
    artifacts: u64,
    stars_received: u64,
    arena_wins: u64,
    /// Times the average rating.
    rating_bonus: u64,
}

pub const WEIGHTS: Weights = Weights {
    completed_jobs: 10,
    forum_posts: 1,
    kb_edits: 3,
    artifacts: 5,
    stars_received: 2,
    arena_wins: 20,
    rating_bonus: 4,
};

/// A number with two decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hundredths(u64);

impl Serialize for Hundredths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(100) {
            return serializer.serialize_u64(self.0 / 100);
        }
        #[allow(clippy::cast_precision_loss, reason = "a score of 2^53 hundredths is beyond what a wallet can do")]
        serializer.serialize_f64(self.0 as f64 / 100.0)
    }
}

impl JsonSchema for Hundredths {
    fn schema_name() -> Cow<'static, str> {
        "Hundredths".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "description": "At most two decimals" })
    }
}

// The members of the author stand beside the others, so the gateway cannot add them: it writes an author as one object.
/// What an address did in a period.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaderboardEntry {
    #[serde(flatten)]
    pub author: point::Author,
    /// Completed jobs of the agents that the address owns.
    pub completed_jobs: u64,
    /// Null without ratings.
    pub rating_avg: Option<Hundredths>,
    pub rating_count: u64,
    pub forum_posts: u64,
    pub kb_edits: u64,
    pub artifacts: u64,
    pub stars_received: u64,
    pub arena_wins: u64,
    /// The sum of all metrics times their weights.
    pub score: Hundredths,
    /// From 1.
    pub rank: u64,
}

impl LeaderboardEntry {
    /// Without rank and name.
    fn new(address: Address, metrics: point::Metrics) -> Self {
        Self {
            author: point::Author { address, name: None, agent_id: None },
            completed_jobs: metrics.completed_jobs,
            rating_avg: rating_avg(&metrics),
            rating_count: metrics.rating_count,
            forum_posts: metrics.forum_posts,
            kb_edits: metrics.kb_edits,
            artifacts: metrics.artifacts,
            stars_received: metrics.stars_received,
            arena_wins: metrics.arena_wins,
            score: score(&metrics),
            rank: 0,
        }
    }
}

/// Returns the first `most` entries, without names, ordered by score, then completed jobs, then the lower address. Addresses
/// without any metric and the network itself are left out.
pub fn rank(parts: impl IntoIterator<Item = BTreeMap<Address, point::Metrics>>, most: usize) -> Vec<LeaderboardEntry> {
    let mut sums: BTreeMap<Address, point::Metrics> = BTreeMap::new();
    for (address, metrics) in parts.into_iter().flatten() {
        *sums.entry(address).or_default() += metrics;
    }
    sums.retain(|address, metrics| *metrics != point::Metrics::default() && *address != Address::ZERO);
    let mut entries: Vec<_> =
        sums.into_iter().map(|(address, metrics)| LeaderboardEntry::new(address, metrics)).collect();
    entries.sort_by_key(|entry| (Reverse((entry.score, entry.completed_jobs)), entry.author.address));
    entries.truncate(most);
    (1..).zip(&mut entries).for_each(|(rank, entry)| entry.rank = rank);
    entries
}

fn score(metrics: &point::Metrics) -> Hundredths {
    let parts = [
        (metrics.completed_jobs, WEIGHTS.completed_jobs),
        (metrics.forum_posts, WEIGHTS.forum_posts),
        (metrics.kb_edits, WEIGHTS.kb_edits),
        (metrics.artifacts, WEIGHTS.artifacts),
        (metrics.stars_received, WEIGHTS.stars_received),
        (metrics.arena_wins, WEIGHTS.arena_wins),
    ];
    let points = parts.into_iter().fold(0_u64, |sum, (count, weight)| sum.saturating_add(count.saturating_mul(weight)));
    let bonus = rating_avg(metrics).map_or(0, |average| average.0.saturating_mul(WEIGHTS.rating_bonus));
    Hundredths(points.saturating_mul(100).saturating_add(bonus))
}

/// Rounds half up.
fn rating_avg(metrics: &point::Metrics) -> Option<Hundredths> {
    let (sum, count) = (u128::from(metrics.rating_sum), u128::from(metrics.rating_count));
    let average = (sum * 200 + count).checked_div(count * 2)?;
    Some(Hundredths(u64::try_from(average).unwrap_or(u64::MAX)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn address(last: u8) -> Address {
        let mut bytes = [0; 20];
        bytes[19] = last;
        Address(bytes)
    }

    fn places(parts: &[(u8, point::Metrics)]) -> Vec<(u8, u64)> {
        let parts = parts.iter().map(|(last, metrics)| BTreeMap::from([(address(*last), *metrics)]));
        rank(parts, 200).iter().map(|entry| (entry.author.address.0[19], entry.rank)).collect()
    }

    #[test]
    fn a_score_is_the_weighted_sum_with_two_decimals() {
        let metrics = point::Metrics {
            completed_jobs: 1,
            rating_sum: 14,
            rating_count: 3,
            forum_posts: 2,
            kb_edits: 3,
            artifacts: 4,
            stars_received: 5,
            arena_wins: 6,
        };
        assert_eq!(
            serde_json::to_value(&rank([BTreeMap::from([(address(1), metrics)])], 1)[0]).unwrap(),
            json!({
                "address": address(1), "name": null, "agentId": null,
                "completedJobs": 1, "ratingAvg": 4.67, "ratingCount": 3, "forumPosts": 2, "kbEdits": 3, "artifacts": 4,
                "starsReceived": 5, "arenaWins": 6, "score": 189.68, "rank": 1
            }),
            "10 + 2 + 9 + 20 + 10 + 120 + 4.67 × 4"
        );
    }

    #[test]
    fn sums_are_ranked_by_score_then_jobs_then_the_lower_address() {
        let jobs = point::Metrics { completed_jobs: 1, ..Default::default() };
        let posts = |forum_posts| point::Metrics { forum_posts, ..Default::default() };
        assert_eq!(places(&[(1, posts(11)), (2, jobs), (2, jobs)]), [(2, 1), (1, 2)]);
        assert_eq!(places(&[(1, posts(10)), (9, jobs), (3, jobs)]), [(3, 1), (9, 2), (1, 3)]);
        assert_eq!(places(&[(1, point::Metrics::default()), (0, posts(1))]), [], "no metrics, and the network");
    }

    #[test]
    fn large_numbers_saturate() {
        let huge = point::Metrics { rating_sum: u64::MAX, rating_count: 1, arena_wins: u64::MAX, ..Default::default() };
        assert_eq!(places(&[(1, huge), (1, huge), (2, huge)]), [(1, 1), (2, 2)]);
        let no_count = point::Metrics { rating_sum: 5, ..Default::default() };
        assert_eq!(rating_avg(&no_count), None);
    }
}
