//! Decides from earlier runs which statements are fast.
//!
//! On SQLite these run on the calling thread, and a slow run now and then is forgiven. On PostgreSQL they need not be timed one by one:
//! what is timed together with others has been timed alone often enough before, and is again after a run that was slow.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Duration,
};

/// A run that takes no longer counts as fast.
const FAST_RUN_MAX: Duration = Duration::from_micros(250);
/// From this score on a statement counts as fast. A fast run adds one.
const FAST_SCORE: u8 = 8;
/// What a slow run subtracts. A busy machine suspends any thread now and then. If that moved statements to other
/// threads, the machine would become busier still.
const SLOW_RUN_PENALTY: u8 = 3;
const SCORE_MAX: u8 = FAST_SCORE + 2 * SLOW_RUN_PENALTY;

/// A score of how fast the runs of one statement text have been.
#[derive(Debug, Default)]
pub(crate) struct StatementLatency(AtomicU8);

impl StatementLatency {
    /// Whether nearly all of its runs are fast.
    pub(crate) fn is_fast(&self) -> bool {
        self.0.load(Relaxed) >= FAST_SCORE
    }

    pub(crate) fn record(&self, elapsed: Duration) {
        if elapsed <= FAST_RUN_MAX {
            self.promote();
        } else {
            self.0.store(self.0.load(Relaxed).saturating_sub(SLOW_RUN_PENALTY), Relaxed);
        }
    }

    /// As [`Self::record`], but one run that is not fast resets the score.
    pub(crate) fn record_strictly(&self, is_fast: bool) {
        if is_fast { self.promote() } else { self.demote() }
    }

    fn promote(&self) {
        self.0.store(self.0.load(Relaxed).saturating_add(1).min(SCORE_MAX), Relaxed);
    }

    /// Resets the score, after a run that had to be interrupted.
    pub(crate) fn demote(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_runs_make_a_statement_fast_and_several_slow_runs_make_it_slow() {
        let latency = StatementLatency::default();
        for _ in 0..FAST_SCORE {
            assert!(!latency.is_fast());
            latency.record(FAST_RUN_MAX);
        }
        assert!(latency.is_fast());
        (0..100).for_each(|_| latency.record(FAST_RUN_MAX));
        latency.record(FAST_RUN_MAX * 2);
        assert!(latency.is_fast(), "once is an accident");
        (0..2).for_each(|_| latency.record(FAST_RUN_MAX * 2));
        assert!(!latency.is_fast());
    }

    #[test]
    fn a_statement_that_is_slow_every_third_time_is_never_fast() {
        let latency = StatementLatency::default();
        for _ in 0..1000 {
            (0..2).for_each(|_| latency.record(FAST_RUN_MAX));
            assert!(!latency.is_fast());
            latency.record(FAST_RUN_MAX * 2);
        }
    }

    #[test]
    fn recorded_strictly_one_slow_run_begins_the_count_again() {
        let latency = StatementLatency::default();
        for _ in 0..FAST_SCORE {
            assert!(!latency.is_fast());
            latency.record_strictly(true);
        }
        (0..100).for_each(|_| latency.record_strictly(true));
        assert!(latency.is_fast());
        latency.record_strictly(false);
        (1..FAST_SCORE).for_each(|_| latency.record_strictly(true));
        assert!(!latency.is_fast());
    }

    #[test]
    fn a_demoted_statement_is_not_fast() {
        let latency = StatementLatency::default();
        (0..100).for_each(|_| latency.record(FAST_RUN_MAX));
        latency.demote();
        assert!(!latency.is_fast());
    }
}
