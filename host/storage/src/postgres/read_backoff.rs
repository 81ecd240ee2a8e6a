//! When a read replica that could not be used is asked again.
//!
//! The rule: while a read replica is behind or is none any more, one read after the other tries it, at intervals that grow. All others go
//! to the primary at once, without a round trip to a server that would not answer them.

use gateway_clock::Backoff;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(10), Duration::from_secs(1));

#[derive(Default)]
pub(crate) struct ReadBackoff {
    /// `None` while the read replica is used.
    pause: Mutex<Option<Pause>>,
}

struct Pause {
    until: Instant,
    /// Pauses before this one, since it was used last.
    earlier: u32,
}

impl ReadBackoff {
    /// Whether a read may try the read replica. The first read after the end of a pause may, and begins the next, longer pause, which
    /// [`Self::was_used`] ends. If it does not read after all, another read tries after that pause.
    pub(crate) fn may_ask(&self, now: Instant) -> bool {
        let mut pause = self.pause.lock();
        let Some(pause) = pause.as_mut() else { return true };
        if now < pause.until {
            return false;
        }
        pause.earlier = pause.earlier.saturating_add(1);
        pause.until = now + BACKOFF.wait_after(pause.earlier);
        true
    }

    pub(crate) fn was_used(&self) {
        *self.pause.lock() = None;
    }

    /// Several reads may find out at the same time.
    pub(crate) fn was_unusable(&self, now: Instant) {
        self.pause.lock().get_or_insert_with(|| Pause { until: now + BACKOFF.wait_after(0), earlier: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn of_many_reads_one_asks_after_each_pause_and_pauses_grow_to_a_second() {
        let (backoff, begun) = (ReadBackoff::default(), Instant::now());
        assert!(backoff.may_ask(begun) && backoff.may_ask(begun), "nothing is known against it");
        let mut asked_ms = Vec::new();
        for at_ms in 0..5_000 {
            let now = begun + ms(at_ms);
            // Two at once.
            let may_ask = [backoff.may_ask(now), backoff.may_ask(now)];
            if at_ms == 0 {
                assert_eq!(may_ask, [true, true]);
                backoff.was_unusable(now);
                backoff.was_unusable(now);
            } else if may_ask[0] {
                asked_ms.push(at_ms);
                backoff.was_unusable(now + ms(1));
            }
            assert!(at_ms == 0 || !may_ask[1], "both at {at_ms} ms");
        }
        assert_eq!(asked_ms, [10, 30, 70, 150, 310, 630, 1270, 2270, 3270, 4270]);
    }

    #[test]
    fn a_read_replica_that_answers_is_asked_by_all_and_begins_anew() {
        let (backoff, begun) = (ReadBackoff::default(), Instant::now());
        for at_ms in 0..3_000 {
            backoff.was_unusable(begun + ms(at_ms));
            backoff.may_ask(begun + ms(at_ms));
        }
        backoff.was_used();
        let later = begun + ms(3_000);
        assert!(backoff.may_ask(later) && backoff.may_ask(later));
        backoff.was_unusable(later);
        assert!(!backoff.may_ask(later + ms(9)) && backoff.may_ask(later + ms(10)));
    }
}
