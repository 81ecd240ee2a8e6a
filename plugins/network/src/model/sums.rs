//! What one party paid another, summed up.

use plugin_api::{Address, AgentId, JobId, JsonSchema, Wei, handles::Bind, json_text};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// What the edges of the graph are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Escrow jobs that were completed or resolved.
    Hire,
    /// Settled x402 vouchers.
    X402,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Hire, Self::X402];
}

/// Who paid whom, as the event says.
#[derive(Clone, Debug)]
pub struct Parties {
    pub kind: Kind,
    pub client: Address,
    /// Of a hire; 0 of x402.
    pub agent_id: AgentId,
    /// Of x402.
    pub payee: Option<Address>,
}

/// One job, or one voucher.
#[derive(Clone, Copy, Debug)]
pub struct Settlement {
    pub amount: Wei,
    pub rating: Option<u8>,
    pub job: Option<JobId>,
    pub at_s: i64,
}

/// Sums of settlements. Adding is commutative and associative, also where a sum stops at the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Sums {
    pub jobs: i64,
    pub volume: Wei,
    pub rated_jobs: i64,
    pub rating_sum: i64,
    pub first_at: i64,
    pub last_at: i64,
    /// The highest ids, in descending order.
    #[serde(deserialize_with = "json_text")]
    pub job_ids: Vec<i64>,
}

const JOB_IDS_MAX: usize = 50;

impl Sums {
    pub fn of(settlement: &Settlement) -> Self {
        let Settlement { amount, rating, job, at_s } = *settlement;
        Self {
            jobs: 1,
            volume: amount,
            rated_jobs: i64::from(rating.is_some()),
            rating_sum: rating.map_or(0, i64::from),
            first_at: at_s,
            last_at: at_s,
            job_ids: job.map(|JobId(id)| id).into_iter().collect(),
        }
    }

    pub fn plus(mut self, more: &Self) -> Self {
        self.job_ids.extend(&more.job_ids);
        self.job_ids.sort_unstable_by_key(|id| Reverse(*id));
        self.job_ids.truncate(JOB_IDS_MAX);
        Self {
            jobs: self.jobs.saturating_add(more.jobs),
            volume: self.volume.saturating_add(more.volume),
            rated_jobs: self.rated_jobs.saturating_add(more.rated_jobs),
            rating_sum: self.rating_sum.saturating_add(more.rating_sum),
            first_at: self.first_at.min(more.first_at),
            last_at: self.last_at.max(more.last_at),
            job_ids: self.job_ids,
        }
    }

    /// Of several; `None` of nothing.
    pub fn total<'a>(sums: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut sums = sums.into_iter();
        let first = sums.next()?.clone();
        Some(sums.fold(first, Self::plus))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn settled(amount: Wei, rating: Option<u8>, job: i64, at_s: i64) -> Sums {
        Sums::of(&Settlement { amount, rating, job: Some(JobId(job)), at_s })
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let all: Vec<Sums> =
            (0..120).map(|id| settled(Wei::from(7_u64), (id % 2 == 0).then_some(5), id, 1000 - id)).collect();
        let total = Sums::total(&all).unwrap();
        assert_eq!((total.jobs, total.rated_jobs, total.rating_sum), (120, 60, 300));
        assert_eq!((total.volume.to_string().as_str(), total.first_at, total.last_at), ("840", 881, 1000));
        assert_eq!((total.job_ids.len(), total.job_ids[0], total.job_ids[49]), (50, 119, 70));
        assert_eq!(Sums::total(all.iter().rev()), Some(total.clone()));
        let halves = [Sums::total(&all[..50]).unwrap(), Sums::total(&all[50..]).unwrap()];
        assert_eq!(Sums::total(&halves), Some(total));
        assert_eq!(Sums::total([]), None);
    }

    #[test]
    fn a_volume_stops_at_the_largest_number() {
        let max: Wei =
            "115792089237316195423570985008687907853269984665640564039457584007913129639935".parse().unwrap();
        let total = Sums::total(&[settled(max, None, 1, 1), settled(max, None, 2, 1)]).unwrap();
        assert_eq!((total.volume, total.jobs), (max, 2));
    }
}
