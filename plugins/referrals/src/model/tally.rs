//! Sums of the leaderboard. Rewards are 256-bit numbers, so they are added and sorted here, exactly.

use plugin_api::{Address, AgentId, Author, JsonSchema, Wei};
use serde::{Deserialize, Serialize};
use std::{cmp::Reverse, collections::BTreeMap};

/// A referrer's claims with the same reward.
#[derive(Clone, Debug, Deserialize)]
pub struct Tally {
    pub ref_agent: AgentId,
    pub agent_name: Option<String>,
    pub owner: Address,
    pub reward: Wei,
    pub referred: i64,
    pub paid: i64,
    pub pending: i64,
    /// How often the referrer's owner was paid.
    pub received: i64,
}

/// Sums of several tallies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    pub referred: i64,
    pub paid: i64,
    pub pending: i64,
    #[serde(skip)]
    pub paid_wei: Wei,
    #[serde(skip)]
    pub earned_wei: Wei,
}

impl Totals {
    pub fn of<'a>(tallies: impl IntoIterator<Item = &'a Tally>) -> Self {
        tallies.into_iter().fold(Self::default(), Self::plus)
    }

    fn plus(self, tally: &Tally) -> Self {
        let times = |count: i64| tally.reward.saturating_mul(u64::try_from(count).unwrap_or_default());
        Self {
            referred: self.referred + tally.referred,
            paid: self.paid + tally.paid,
            pending: self.pending + tally.pending,
            paid_wei: self.paid_wei.saturating_add(times(tally.received)),
            earned_wei: self.earned_wei.saturating_add(times(tally.paid + tally.pending)),
        }
    }
}

/// A line of the leaderboard.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferrerView {
    /// From 1.
    pub rank: u64,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub owner: Author,
    /// Agents that named it as their referrer.
    pub referred: i64,
    /// Those of them that did a job that counts: paid and pending ones.
    pub earned: i64,
    pub paid: i64,
    pub pending: i64,
    /// What its owners were paid.
    pub paid_wei: Wei,
    /// What they were or will be paid: the leaderboard is sorted by it.
    pub earned_wei: Wei,
}

/// The first `limit` referrers: those who earned most, then those who brought most, then the lowest id.
pub fn rank(tallies: &[Tally], limit: usize) -> Vec<ReferrerView> {
    let mut by_agent: BTreeMap<AgentId, (Totals, &Tally)> = BTreeMap::new();
    for tally in tallies {
        let entry = by_agent.entry(tally.ref_agent).or_insert((Totals::default(), tally));
        entry.0 = entry.0.plus(tally);
    }
    let mut sums: Vec<(Totals, &Tally)> = by_agent.into_values().collect();
    // Stable: the ids are in order.
    sums.sort_by_key(|(sum, _)| Reverse((sum.earned_wei, sum.paid + sum.pending, sum.referred)));
    let view = |(rank, (sum, tally)): (u64, (Totals, &Tally))| ReferrerView {
        rank,
        agent_id: tally.ref_agent,
        agent_name: tally.agent_name.clone(),
        owner: tally.owner.into(),
        referred: sum.referred,
        earned: sum.paid + sum.pending,
        paid: sum.paid,
        pending: sum.pending,
        paid_wei: sum.paid_wei,
        earned_wei: sum.earned_wei,
    };
    (1..).zip(sums.into_iter().take(limit)).map(view).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::U256;

    fn tally(ref_agent: i64, reward: Wei, referred: i64, paid: i64, pending: i64) -> Tally {
        let (ref_agent, agent_name, owner) = (AgentId(ref_agent), None, Address::ZERO);
        Tally { ref_agent, agent_name, owner, reward, referred, paid, pending, received: paid }
    }

    #[test]
    fn sums_of_256_bits_are_sorted_exactly() {
        let large = Wei(U256::MAX / U256::from(4));
        let more = Wei(large.0 + U256::from(1));
        let tallies = [
            tally(1, large, 9, 2, 1),
            tally(2, more, 3, 1, 2),
            tally(3, Wei::from(1_u64), 50, 50, 0),
            // One of these rewards above the double of `large`.
            tally(4, large, 2, 2, 0),
            tally(4, Wei::from(1_u64), 1, 0, 1),
            tally(5, large, 3, 2, 0),
            tally(6, large, 2, 2, 0),
            tally(7, large, 2, 2, 0),
        ];
        let ranked = rank(&tallies, 7);
        let ids: Vec<i64> = ranked.iter().map(|view| view.agent_id.0).collect();
        assert_eq!(ids, [2, 1, 4, 5, 6, 7, 3], "earned, then referred, then the id");
        assert_eq!(ranked.iter().map(|view| view.rank).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
        let of_4 = &ranked[2];
        assert_eq!((of_4.referred, of_4.earned, of_4.paid, of_4.pending), (3, 3, 2, 1));
        assert_eq!(of_4.earned_wei, Wei(large.0 * U256::from(2) + U256::from(1)));
        assert_eq!(of_4.paid_wei, Wei(large.0 * U256::from(2)));
        assert_eq!(rank(&tallies, 2).len(), 2);
        assert_eq!(Totals::of(&tallies).referred, 72);
    }

    #[test]
    fn a_sum_stops_at_the_largest_number() {
        let ranked = rank(&[tally(1, Wei(U256::MAX), 2, 2, 0)], 1);
        assert_eq!(ranked[0].earned_wei, Wei(U256::MAX));
    }
}
