//! Payouts of a day of UTC: of all, and of each referrer's owner. Counted with the payout.

use plugin_api::{
    Address, HostError, Query, Tx,
    counter::{Count, Counter},
};

const DAY_S: i64 = 86_400;
const ALL: Counter = Counter::new("referrals_counters", "paid", DAY_S);
const OF_REFERRER: Counter = Counter::new("referrals_counters", "paid_referrer", DAY_S);
/// The key of the counter of all.
const NETWORK: &str = "";

/// How many payouts a day may have.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub per_referrer: i64,
    pub per_day: i64,
    /// Of these, without a release.
    pub unreleased: i64,
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Referrer,
    Network,
    /// It takes an operator's release to go on today.
    Unreleased,
}

impl Limits {
    /// The limit that a further payout for this referrer would pass now.
    pub async fn full(
        &self,
        db: &impl Query,
        referrer: Address,
        is_released: bool,
        now_s: i64,
    ) -> Result<Option<Full>, HostError> {
        let all = ALL.used(db, NETWORK, now_s).await?;
        if OF_REFERRER.used(db, &referrer.to_string(), now_s).await? >= self.per_referrer {
            return Ok(Some(Full::Referrer));
        }
        Ok(match all {
            all if all >= self.per_day => Some(Full::Network),
            all if all >= self.unreleased && !is_released => Some(Full::Unreleased),
            _ => None,
        })
    }

    /// Counts a payout; returns false, with nothing for the caller to commit, when a limit is reached.
    pub async fn count(&self, tx: &Tx, referrer: Address) -> Result<bool, HostError> {
        let is_counted = |count| matches!(count, Count::Counted { .. });
        // Yesterday's rows decide nothing any more.
        for counter in [ALL, OF_REFERRER] {
            tx.defer(counter.delete_before(tx.now_s() - DAY_S))?;
        }
        Ok(is_counted(ALL.take(tx, NETWORK, 1, self.per_day).await?)
            && is_counted(OF_REFERRER.take(tx, &referrer.to_string(), 1, self.per_referrer).await?))
    }
}

/// Payouts of today.
pub async fn today(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    ALL.used(db, NETWORK, now_s).await
}

/// When the next day begins.
pub fn next_day(now_s: i64) -> i64 {
    now_s - now_s.rem_euclid(DAY_S) + DAY_S
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_day_begins_at_midnight() {
        for now_s in [DAY_S, DAY_S + 1, 2 * DAY_S - 1] {
            assert_eq!(next_day(now_s), 2 * DAY_S);
        }
    }
}
