//! Waits between the attempts of work that fails.

use std::time::Duration;

/// A wait that doubles with each failure in a row, up to a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    max: Duration,
}

impl Backoff {
    pub const fn new(first: Duration, max: Duration) -> Self {
        Self { first, max }
    }

    /// After one more failure than these: `first` after the first one.
    pub fn wait_after(self, earlier_failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(earlier_failures).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_up_to_the_maximum() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let waits_ms = [0, 1, 2, 3, 4, 5].map(|failures| backoff.wait_after(failures).as_millis());
        assert_eq!(waits_ms, [100, 200, 400, 800, 1_000, 1_000]);
    }

    #[test]
    fn no_number_of_failures_overflows_or_shortens_the_wait() {
        let (first, max) = (Duration::from_millis(1), Duration::from_secs(3_600));
        for failures in [22, 31, 32, 33, 63, 64, u32::MAX] {
            assert_eq!(Backoff::new(first, max).wait_after(failures), max, "{failures}");
        }
        let unlimited = Backoff::new(Duration::MAX, Duration::MAX);
        assert_eq!(unlimited.wait_after(1), Duration::MAX);
    }
}
