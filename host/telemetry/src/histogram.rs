//! How long things took, counted in fixed steps: any number of threads, no memory that grows, some nanoseconds per count.

use std::{
    array,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

/// Upper ends of the steps; what took longer is in one more.
pub const LIMITS_US: [u64; STEPS] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];
const STEPS: usize = 16;

#[derive(Debug, Default)]
pub struct Histogram {
    counts: [AtomicU64; STEPS + 1],
    sum_us: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    pub counts: [u64; STEPS + 1],
    pub sum_us: u64,
}

/// Counts the time until it is dropped, also when the work is given up.
pub struct Timer<'h> {
    histogram: &'h Histogram,
    started: Instant,
}

impl Histogram {
    pub fn record(&self, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let step = LIMITS_US.partition_point(|limit_us| *limit_us < took_us);
        if let Some(count) = self.counts.get(step) {
            count.fetch_add(1, Relaxed);
        }
        self.sum_us.fetch_add(took_us, Relaxed);
    }

    pub fn start(&self) -> Timer<'_> {
        Timer { histogram: self, started: Instant::now() }
    }

    pub fn read(&self) -> Durations {
        let counts = array::from_fn(|step| self.counts.get(step).map_or(0, |count| count.load(Relaxed)));
        Durations { counts, sum_us: self.sum_us.load(Relaxed) }
    }
}

impl Timer<'_> {
    /// Counts nothing after all.
    pub fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        self.histogram.record(self.started.elapsed());
    }
}

impl Durations {
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sum_us += other.sum_us;
    }

    /// Within which time that share of all was done, in permille; [`Duration::MAX`] when it was longer than the last step.
    pub fn within(&self, permille: u64) -> Option<Duration> {
        let wanted = u128::from(self.count()) * u128::from(permille);
        if wanted == 0 {
            return None;
        }
        let mut seen = 0;
        let step = self.counts.iter().position(|count| {
            seen += u128::from(*count) * 1000;
            seen >= wanted
        })?;
        Some(LIMITS_US.get(step).map_or(Duration::MAX, |limit_us| Duration::from_micros(*limit_us)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn of(took_us: &[u64]) -> Durations {
        let histogram = Histogram::default();
        took_us.iter().for_each(|took_us| histogram.record(Duration::from_micros(*took_us)));
        histogram.read()
    }

    #[test]
    fn a_step_has_its_upper_end() {
        let read = of(&[0, 100, 101, 10_000_000, 10_000_001, u64::MAX / 2]);
        assert_eq!((read.counts[0], read.counts[1], read.counts[15], read.counts[16]), (2, 1, 1, 2));
        assert_eq!(read.count(), 6);
    }

    #[test]
    fn shares_are_those_of_the_steps() {
        let mut read = of(&[50; 98]);
        read.add(&of(&[3_000, 20_000_000]));
        assert_eq!(read.within(500).unwrap(), Duration::from_micros(100));
        assert_eq!(read.within(980).unwrap(), Duration::from_micros(100));
        assert_eq!(read.within(990).unwrap(), Duration::from_micros(5_000));
        assert_eq!(read.within(1000).unwrap(), Duration::MAX);
        assert_eq!(of(&[]).within(500), None);
    }
}
