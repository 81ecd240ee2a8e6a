//! Requests and their latency over the last hour, for people who look. Rule: constant memory, and no work per request: the
//! counters of the operations are compared from time to time.

use crate::histogram::HistogramSnapshot;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// How much time one point is about.
pub const TRAFFIC_INTERVAL: Duration = Duration::from_secs(30);
/// An hour.
pub const TRAFFIC_INTERVALS_MAX: usize = 120;
/// What is shorter says little about a rate.
const CURRENT_MIN: Duration = Duration::from_secs(1);

/// All operations of all plugins together.
#[derive(Clone, Debug, Default)]
pub struct TrafficTotals {
    pub requests: u64,
    /// Answered 5xx.
    pub failed: u64,
    pub latency: HistogramSnapshot,
}

/// What came within a time.
#[derive(Clone, Debug)]
pub struct TrafficInterval {
    pub length: Duration,
    pub counted: TrafficTotals,
}

#[derive(Debug, Default)]
pub(crate) struct TrafficHistory {
    last: Option<(Instant, TrafficTotals)>,
    intervals: VecDeque<TrafficInterval>,
}

impl TrafficInterval {
    pub fn per_second(&self, count: u64) -> f64 {
        // Counts of an hour are exact in a double.
        count as f64 / self.length.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl TrafficHistory {
    /// Closes the interval that runs.
    pub(crate) fn close_interval(&mut self, now: Instant, totals: TrafficTotals) {
        self.intervals.extend(self.since_last(now, &totals));
        while self.intervals.len() > TRAFFIC_INTERVALS_MAX {
            self.intervals.pop_front();
        }
        self.last = Some((now, totals));
    }

    /// The oldest first; the last one is not over.
    pub(crate) fn intervals(&self, now: Instant, totals: &TrafficTotals) -> Vec<TrafficInterval> {
        let current = self.since_last(now, totals).filter(|current| current.length >= CURRENT_MIN);
        let closed = self.intervals.iter().skip(usize::from(self.intervals.len() == TRAFFIC_INTERVALS_MAX));
        closed.cloned().chain(current).collect()
    }

    fn since_last(&self, now: Instant, totals: &TrafficTotals) -> Option<TrafficInterval> {
        let (at, last) = self.last.as_ref()?;
        let counted = TrafficTotals {
            requests: totals.requests.saturating_sub(last.requests),
            failed: totals.failed.saturating_sub(last.failed),
            latency: totals.latency.since(&last.latency),
        };
        Some(TrafficInterval { length: now.duration_since(*at), counted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(requests: u64) -> TrafficTotals {
        TrafficTotals { requests, failed: requests / 10, latency: HistogramSnapshot::default() }
    }

    #[test]
    fn an_hour_is_kept_and_the_current_interval_is_added() {
        let (mut history, start) = (TrafficHistory::default(), Instant::now());
        let at = |number: u64| start + TRAFFIC_INTERVAL * u32::try_from(number).unwrap_or_default();
        assert!(history.intervals(start, &totals(50)).is_empty(), "it has not begun");
        for number in 0..=200 {
            history.close_interval(at(number), totals(number * 30));
        }
        let now = at(200) + Duration::from_secs(2);
        let intervals = history.intervals(now, &totals(6200));
        assert_eq!(intervals.len(), TRAFFIC_INTERVALS_MAX, "bounded");
        assert!(intervals.iter().rev().skip(1).all(|one| one.counted.requests == 30 && one.counted.failed == 3));
        let current = intervals.last().map(|one| (one.length, one.per_second(one.counted.requests)));
        assert_eq!(current, Some((Duration::from_secs(2), 100.0)));
        assert_eq!(history.intervals(at(200), &totals(6000)).len(), TRAFFIC_INTERVALS_MAX - 1, "no rate of a moment");
    }

    #[test]
    fn counters_that_went_back_count_nothing() {
        let (mut history, start) = (TrafficHistory::default(), Instant::now());
        history.close_interval(start, totals(100));
        let intervals = history.intervals(start + TRAFFIC_INTERVAL, &totals(40));
        assert_eq!(intervals.iter().map(|one| one.counted.requests).collect::<Vec<_>>(), [0]);
    }
}
