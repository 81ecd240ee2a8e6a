//! Which statements are short enough to run where they are asked for.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Duration,
};

/// A run that takes no longer is short.
const SHORT: Duration = Duration::from_micros(250);
/// Short runs that a statement needs to be trusted.
const TRIALS: u8 = 8;
/// Short runs that make up for a long one. A busy machine stops any thread for a while now and then, and that must not send
/// statements over to other threads, which would make it busier.
const PENALTY: u8 = 3;
/// As many may be saved up.
const CREDIT_MAX: u8 = TRIALS + 2 * PENALTY;

/// How one statement's text has run so far.
#[derive(Debug, Default)]
pub struct Pace(AtomicU8);

impl Pace {
    /// Whether its runs are short, but for few.
    pub fn is_short(&self) -> bool {
        self.0.load(Relaxed) >= TRIALS
    }

    pub fn note(&self, took: Duration) {
        let credit = self.0.load(Relaxed);
        let credit =
            if took <= SHORT { credit.saturating_add(1).min(CREDIT_MAX) } else { credit.saturating_sub(PENALTY) };
        self.0.store(credit, Relaxed);
    }

    /// A run had to be stopped.
    pub fn distrust(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_earned_by_short_runs_and_lost_by_some_that_are_long() {
        let pace = Pace::default();
        for _ in 0..TRIALS {
            assert!(!pace.is_short());
            pace.note(SHORT);
        }
        assert!(pace.is_short());
        (0..100).for_each(|_| pace.note(SHORT));
        pace.note(SHORT * 2);
        assert!(pace.is_short(), "once is an accident");
        (0..2).for_each(|_| pace.note(SHORT * 2));
        assert!(!pace.is_short());
    }

    #[test]
    fn what_is_long_every_third_time_is_never_trusted() {
        let pace = Pace::default();
        for _ in 0..1000 {
            (0..2).for_each(|_| pace.note(SHORT));
            assert!(!pace.is_short());
            pace.note(SHORT * 2);
        }
    }

    #[test]
    fn a_run_that_was_stopped_ends_all_trust() {
        let pace = Pace::default();
        (0..100).for_each(|_| pace.note(SHORT));
        pace.distrust();
        assert!(!pace.is_short());
    }
}
