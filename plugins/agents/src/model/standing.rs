//! Totals of an agent's jobs, by which lists sort.

use plugin_api::Wei;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Standing {
    /// Jobs in Completed or Resolved whose amount is above zero.
    pub paid_jobs: i64,
    /// Distinct clients of those jobs.
    pub payers: i64,
    /// The sum of their amounts.
    pub earned: Wei,
    pub rating_count: u32,
    pub rating_sum: u32,
}

/// Two different averages of fewer than 10^9 ratings each differ by more than 1 / RANK_ONE.
const RANK_ONE: u128 = 1_000_000_000_000_000_000;

impl Standing {
    /// Sorts like the average rating. 0, below every average, without a paid job or without a rating.
    pub fn rating_rank(&self) -> i64 {
        if self.paid_jobs == 0 || self.rating_count == 0 {
            return 0;
        }
        let rank = u128::from(self.rating_sum) * RANK_ONE / u128::from(self.rating_count);
        i64::try_from(rank).unwrap_or(i64::MAX)
    }

    /// Counts a settled job whose amount is above zero.
    pub fn pay(&mut self, amount: Wei, is_first_of_payer: bool) {
        self.paid_jobs += 1;
        self.payers += i64::from(is_first_of_payer);
        self.earned = self.earned.saturating_add(amount);
    }

    /// Counts a rating of 1 to 5; 0 means none.
    pub fn rate(&mut self, rating: u8) {
        if rating > 0 {
            self.rating_count = self.rating_count.saturating_add(1);
            self.rating_sum = self.rating_sum.saturating_add(rating.into());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn rated(rating_sum: u32, rating_count: u32) -> Standing {
        Standing { paid_jobs: 1, payers: 1, rating_sum, rating_count, ..Standing::default() }
    }

    #[test]
    fn equal_averages_rank_equally_and_close_ones_do_not() {
        assert_eq!(rated(9, 2).rating_rank(), rated(18, 4).rating_rank());
        assert_eq!(rated(1, 3).rating_rank(), rated(100_000, 300_000).rating_rank());
        // The two closest averages below 5 of large agents.
        let (lower, higher) = (rated(4_999_998, 1_000_000), rated(4_999_999, 1_000_000));
        assert!(lower.rating_rank() < higher.rating_rank());
        assert!(rated(499_999_994, 99_999_999).rating_rank() < rated(499_999_999, 100_000_000).rating_rank());
    }

    #[test]
    fn an_agent_without_paid_work_or_ratings_has_no_rank() {
        assert_eq!(Standing { paid_jobs: 0, ..rated(5, 1) }.rating_rank(), 0);
        assert_eq!(rated(0, 0).rating_rank(), 0);
        assert!(rated(1, 1).rating_rank() > 0);
        assert_eq!(rated(u32::MAX, 1).rating_rank(), i64::MAX);
    }

    #[test]
    fn a_payment_counts_its_payer_once_and_no_sum_is_too_large() {
        let max: Wei =
            "115792089237316195423570985008687907853269984665640564039457584007913129639935".parse().unwrap();
        let mut standing = Standing::default();
        standing.pay("1".parse().unwrap(), true);
        standing.pay(max, false);
        assert_eq!((standing.paid_jobs, standing.payers, standing.earned), (2, 1, max));
    }

    #[test]
    fn an_unreviewed_job_is_no_rating() {
        let mut standing = Standing::default();
        standing.rate(0);
        standing.rate(5);
        assert_eq!((standing.rating_count, standing.rating_sum), (1, 5));
    }
}
