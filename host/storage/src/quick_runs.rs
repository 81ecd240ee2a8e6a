//! Which statements have been far from slow.
//!
//! The rule: what is timed together with others has been timed alone often enough before, and is again after a time that was slow.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const ENOUGH: u8 = 8;

/// The last runs of one statement text that were timed alone.
#[derive(Debug, Default)]
pub(crate) struct QuickRuns(AtomicU8);

impl QuickRuns {
    pub(crate) fn are_enough(&self) -> bool {
        self.0.load(Relaxed) >= ENOUGH
    }

    pub(crate) fn record(&self, is_quick: bool) {
        let runs = if is_quick { self.0.load(Relaxed).saturating_add(1).min(ENOUGH) } else { 0 };
        self.0.store(runs, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_that_is_not_quick_begins_the_count_again() {
        let runs = QuickRuns::default();
        for _ in 0..ENOUGH {
            assert!(!runs.are_enough());
            runs.record(true);
        }
        (0..3).for_each(|_| runs.record(true));
        assert!(runs.are_enough());
        runs.record(false);
        (1..ENOUGH).for_each(|_| runs.record(true));
        assert!(!runs.are_enough());
    }
}
