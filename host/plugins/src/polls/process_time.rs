//! How long this process could run, by the watchdog's ticks: one that is stopped or starved of processors does not age.

use super::thread_slot::TICK;
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// Nanoseconds between two ticks; 0 where no watchdog runs.
static INTERVAL_NS: AtomicU64 = AtomicU64::new(0);

pub(super) fn set_interval(interval: Duration) {
    INTERVAL_NS.store(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX), Relaxed);
}

/// A tick of the watchdog.
#[derive(Clone, Copy, Debug)]
pub struct ProcessInstant(u32);

impl ProcessInstant {
    pub fn now() -> Self {
        Self(TICK.load(Relaxed))
    }

    /// Whether the process could run for less than half of `time`, which passed since. Without a watchdog nobody knows: no.
    pub fn was_starved(self, time: Duration) -> bool {
        let interval = Duration::from_nanos(INTERVAL_NS.load(Relaxed));
        let ticks = TICK.load(Relaxed).wrapping_sub(self.0);
        !interval.is_zero() && interval.saturating_mul(ticks) < time / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polls::ThreadWatchdog;

    #[test]
    fn time_without_ticks_is_time_without_a_processor() {
        let time = Duration::from_secs(1);
        let started = ProcessInstant::now();
        // Other tests move the same clock, and none says later than this one how long a tick is.
        let mut watchdog = ThreadWatchdog::new(time);
        assert!(ProcessInstant::now().was_starved(time), "no tick passed");
        watchdog.look();
        assert!(!started.was_starved(time));
    }
}
