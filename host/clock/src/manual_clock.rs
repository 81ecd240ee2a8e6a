//! A clock for tests.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// How many sleepers are woken one after the other while a manual clock advances.
const STEPS_MAX: u32 = 500;

/// A clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    now_ms: i64,
    /// The sleepers, by deadline and order of arrival.
    sleepers: BTreeMap<(i64, u64), oneshot::Sender<()>>,
    arrivals: u64,
}

impl ManualClock {
    pub fn new(now_ms: i64) -> Self {
        Self(Arc::new(Mutex::new(State { now_ms, sleepers: BTreeMap::new(), arrivals: 0 })))
    }

    pub fn now_ms(&self) -> i64 {
        self.0.lock().now_ms
    }

    /// Moves the clock and wakes the sleepers whose deadline has come, in the order of their deadlines. Each gets the
    /// chance to run before the next is woken. A task that sleeps a second at a time would be woken millions of times
    /// in a month, so after [`STEPS_MAX`] the rest of the time passes at once, as on a machine that was suspended.
    pub async fn advance(&self, duration: Duration) {
        let target_ms = self.now_ms().saturating_add(to_millis(duration));
        for step in 1.. {
            let woken = self.0.lock().wake_next(target_ms);
            tokio::task::yield_now().await;
            if !woken {
                return;
            }
            if step == STEPS_MAX {
                self.0.lock().now_ms = target_ms;
            }
        }
    }

    pub(crate) async fn sleep_until(&self, deadline_ms: i64) {
        let woken = self.0.lock().register(deadline_ms);
        if let Some(woken) = woken {
            // The sender is dropped only with the clock, which then can no longer be moved.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl State {
    fn register(&mut self, deadline_ms: i64) -> Option<oneshot::Receiver<()>> {
        if deadline_ms <= self.now_ms {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        self.arrivals += 1;
        self.sleepers.insert((deadline_ms, self.arrivals), wake);
        Some(woken)
    }

    fn wake_next(&mut self, target_ms: i64) -> bool {
        let due = self.sleepers.first_entry().filter(|sleeper| sleeper.key().0 <= target_ms);
        let Some(sleeper) = due else {
            self.now_ms = target_ms;
            return false;
        };
        self.now_ms = self.now_ms.max(sleeper.key().0);
        // The sleeper may have been dropped.
        let _ = sleeper.remove().send(());
        true
    }
}

pub(crate) fn to_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;

    #[tokio::test]
    async fn sleepers_wake_in_the_order_of_their_deadlines() {
        let clock = ManualClock::new(1_000);
        let order = Arc::new(Mutex::new(Vec::new()));
        for seconds in [3u64, 1, 2] {
            let (sleeper, order) = (clock.clone(), order.clone());
            tokio::spawn(async move {
                Clock::Manual(sleeper.clone()).sleep(Duration::from_secs(seconds)).await;
                order.lock().push((seconds, sleeper.now_ms()));
            });
        }
        tokio::task::yield_now().await;
        clock.advance(Duration::from_millis(2_500)).await;
        tokio::task::yield_now().await;
        assert_eq!(*order.lock(), [(1, 2_000), (2, 3_000)]);
        assert_eq!(clock.now_ms(), 3_500);
    }

    #[tokio::test]
    async fn a_month_passes_although_a_task_wakes_every_millisecond() {
        let clock = ManualClock::new(0);
        let wakes = Arc::new(Mutex::new(Vec::new()));
        let (sleeper, seen) = (clock.clone(), wakes.clone());
        tokio::spawn(async move {
            loop {
                Clock::Manual(sleeper.clone()).sleep(Duration::from_millis(1)).await;
                seen.lock().push(sleeper.now_ms());
            }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(30 * 86_400)).await;
        let (wakes, month_ms) = (wakes.lock(), 30 * 86_400_000);
        assert_eq!(clock.now_ms(), month_ms);
        assert!(wakes.iter().zip(1..).take(STEPS_MAX as usize - 1).all(|(wake, ms)| *wake == ms), "each in its time");
        assert_eq!(wakes.last(), Some(&month_ms), "and once more at the end");
        assert!(wakes.len() <= STEPS_MAX as usize + 2, "{}", wakes.len());
    }
}
