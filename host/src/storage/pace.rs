//! Which statements are short enough to run where they are asked for.

use std::{
    sync::atomic::{AtomicU8, Ordering::Relaxed},
    time::Duration,
};

/// A run that takes no longer is short.
const SHORT: Duration = Duration::from_micros(250);
/// Short runs in a row that a statement needs to be trusted.
const TRIALS: u8 = 8;

/// How one statement's text has run so far.
#[derive(Debug, Default)]
pub struct Pace(AtomicU8);

impl Pace {
    /// Whether all of its last runs were short.
    pub fn is_short(&self) -> bool {
        self.0.load(Relaxed) >= TRIALS
    }

    pub fn note(&self, took: Duration) {
        let runs = if took <= SHORT { self.0.load(Relaxed).saturating_add(1).min(TRIALS) } else { 0 };
        self.0.store(runs, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_earned_by_short_runs_and_lost_by_one_that_is_long() {
        let pace = Pace::default();
        for _ in 0..TRIALS {
            assert!(!pace.is_short());
            pace.note(SHORT);
        }
        assert!(pace.is_short());
        pace.note(SHORT * 2);
        assert!(!pace.is_short());
    }
}
