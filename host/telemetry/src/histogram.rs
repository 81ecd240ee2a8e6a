//! Durations counted in fixed buckets, from any number of threads, in constant memory and some nanoseconds per record.

use std::{
    array,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Upper bounds, inclusive, of requests and database calls. A longer duration falls into one more bucket.
const REQUEST_BOUNDS_US: [u64; BOUNDS_MAX] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];
/// The same of everything that is measured through the macros of `metrics`: runs of jobs.
const JOB_BOUNDS_US: [u64; 12] = [
    1_000,
    5_000,
    10_000,
    50_000,
    100_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    60_000_000,
    300_000_000,
    3_600_000_000,
];
const BOUNDS_MAX: usize = 16;

#[derive(Debug)]
pub struct Histogram {
    /// At most [`BOUNDS_MAX`].
    bounds_us: &'static [u64],
    /// One for each bound, then one for what is longer.
    counts: [AtomicU64; BOUNDS_MAX + 1],
    sum_us: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    pub(crate) bounds_us: &'static [u64],
    pub(crate) counts: [u64; BOUNDS_MAX + 1],
    pub(crate) sum_us: u64,
}

/// Records the time until it is dropped, so that cancelled work is recorded too.
pub struct HistogramTimer<'h> {
    histogram: &'h Histogram,
    started: Instant,
}

impl Histogram {
    pub(crate) fn of_jobs() -> Self {
        Self::new(&JOB_BOUNDS_US)
    }

    fn new(bounds_us: &'static [u64]) -> Self {
        Self { bounds_us, counts: Default::default(), sum_us: AtomicU64::new(0) }
    }

    pub fn record(&self, duration: Duration) {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = self.bounds_us.partition_point(|bound_us| *bound_us < duration_us);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Relaxed);
        }
        self.sum_us.fetch_add(duration_us, Relaxed);
    }

    pub fn start_timer(&self) -> HistogramTimer<'_> {
        HistogramTimer { histogram: self, started: Instant::now() }
    }

    pub fn snapshot(&self) -> HistogramSnapshot {
        let counts = array::from_fn(|bucket| self.counts.get(bucket).map_or(0, |count| count.load(Relaxed)));
        HistogramSnapshot { bounds_us: self.bounds_us, counts, sum_us: self.sum_us.load(Relaxed) }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new(&REQUEST_BOUNDS_US)
    }
}

/// The facade gives seconds.
impl metrics::HistogramFn for Histogram {
    fn record(&self, seconds: f64) {
        let too_long = if seconds > 0.0 { Duration::MAX } else { Duration::ZERO };
        self.record(Duration::try_from_secs_f64(seconds).unwrap_or(too_long));
    }
}

impl HistogramTimer<'_> {
    /// Records nothing.
    pub fn discard(self) {
        std::mem::forget(self);
    }
}

impl Drop for HistogramTimer<'_> {
    fn drop(&mut self) {
        self.histogram.record(self.started.elapsed());
    }
}

impl HistogramSnapshot {
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds a histogram with the same bounds.
    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sum_us += other.sum_us;
    }

    /// What was recorded after this earlier snapshot of the same histogram.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut since = self.clone();
        since.counts.iter_mut().zip(earlier.counts).for_each(|(count, less)| *count = count.saturating_sub(less));
        since.sum_us = since.sum_us.saturating_sub(earlier.sum_us);
        since
    }

    /// The upper bound of the bucket in which this quantile lies; [`Duration::MAX`] beyond the last bound.
    pub fn quantile(&self, permille: u64) -> Option<Duration> {
        let rank = u128::from(self.count()) * u128::from(permille);
        if rank == 0 {
            return None;
        }
        let mut cumulative = 0;
        let bucket = self.counts.iter().position(|count| {
            cumulative += u128::from(*count) * 1000;
            cumulative >= rank
        })?;
        Some(self.bounds_us.get(bucket).map_or(Duration::MAX, |bound_us| Duration::from_micros(*bound_us)))
    }
}

impl Default for HistogramSnapshot {
    fn default() -> Self {
        Histogram::default().snapshot()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn snapshot_of(durations_us: &[u64]) -> HistogramSnapshot {
        let histogram = Histogram::default();
        durations_us.iter().for_each(|duration_us| histogram.record(Duration::from_micros(*duration_us)));
        histogram.snapshot()
    }

    #[test]
    fn a_bucket_includes_its_upper_bound() {
        let snapshot = snapshot_of(&[0, 100, 101, 10_000_000, 10_000_001, u64::MAX / 2]);
        let counts = snapshot.counts;
        assert_eq!((counts[0], counts[1], counts[15], counts[16]), (2, 1, 1, 2));
        assert_eq!(snapshot.count(), 6);
    }

    #[test]
    fn a_quantile_is_the_bound_of_its_bucket() {
        let mut snapshot = snapshot_of(&[50; 98]);
        snapshot.add(&snapshot_of(&[3_000, 20_000_000]));
        assert_eq!(snapshot.quantile(500).unwrap(), Duration::from_micros(100));
        assert_eq!(snapshot.quantile(980).unwrap(), Duration::from_micros(100));
        assert_eq!(snapshot.quantile(990).unwrap(), Duration::from_micros(5_000));
        assert_eq!(snapshot.quantile(1000).unwrap(), Duration::MAX);
        assert_eq!(snapshot_of(&[]).quantile(500), None);
    }

    #[test]
    fn seconds_that_are_no_duration_are_the_shortest_or_the_longest() {
        let histogram = Histogram::of_jobs();
        for seconds in [0.001, -1.0, f64::NAN, 0.002, 4000.0, f64::INFINITY] {
            metrics::HistogramFn::record(&histogram, seconds);
        }
        let counts = histogram.snapshot().counts;
        assert_eq!((counts[0], counts[1], counts[12], histogram.snapshot().count()), (3, 1, 2, 6));
    }
}
