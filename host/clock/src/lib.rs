//! The gateway's clock: the system's, or one that a test moves.
//!
//! The rule: whatever decides by the time of day (ts windows, intervals, schedules, plugin sleeps) asks this clock;
//! time limits on work (requests, statements) run on tokio's timer, so that a moved clock cannot fire them.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::sync::oneshot;

#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    /// Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => system_now_ms(),
            Self::Manual(manual) => manual.now_ms(),
        }
    }

    /// Unix seconds.
    pub fn now_s(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }

    pub async fn sleep(&self, duration: Duration) {
        match self {
            Self::System => tokio::time::sleep(duration).await,
            Self::Manual(manual) => manual.sleep_until(manual.now_ms().saturating_add(millis(duration))).await,
        }
    }

    /// Completes at that time, at once if it has passed; a manual clock that moves meanwhile is not missed.
    pub async fn sleep_until(&self, deadline_ms: i64) {
        match self {
            Self::System => {
                let left_ms = u64::try_from(deadline_ms.saturating_sub(system_now_ms())).unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(left_ms)).await;
            }
            Self::Manual(manual) => manual.sleep_until(deadline_ms).await,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the one home of the system's clock")]
fn system_now_ms() -> i64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Those who are woken in their order while a manual clock advances.
const STEPS_MAX: u32 = 20_000;

/// Stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Manual>>);

#[derive(Debug)]
struct Manual {
    now_ms: i64,
    /// Who waits, by deadline and order of arrival.
    sleepers: BTreeMap<(i64, u64), oneshot::Sender<()>>,
    arrivals: u64,
}

impl ManualClock {
    pub fn new(now_ms: i64) -> Self {
        Self(Arc::new(Mutex::new(Manual { now_ms, sleepers: BTreeMap::new(), arrivals: 0 })))
    }

    pub fn now_ms(&self) -> i64 {
        self.0.lock().now_ms
    }

    /// Moves the clock and wakes everyone whose time has come, in the order of their deadlines. Each gets the chance to
    /// run before the next is woken. What wakes every second would be woken millions of times in a month: after
    /// [`STEPS_MAX`] the rest of the time passes at once, as for a machine that slept.
    pub async fn advance(&self, duration: Duration) {
        let target_ms = self.now_ms().saturating_add(millis(duration));
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

    async fn sleep_until(&self, deadline_ms: i64) {
        let waiting = self.0.lock().wait(deadline_ms);
        if let Some(woken) = waiting {
            // The sender goes only with the clock itself; then nobody can move it any more.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Manual {
    fn wait(&mut self, deadline_ms: i64) -> Option<oneshot::Receiver<()>> {
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
        // A sleeper that was dropped meanwhile does not mind.
        let _ = sleeper.remove().send(());
        true
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    async fn a_month_passes_although_somebody_looks_every_millisecond() {
        let clock = ManualClock::new(0);
        let looks = Arc::new(Mutex::new(Vec::new()));
        let (sleeper, seen) = (clock.clone(), looks.clone());
        tokio::spawn(async move {
            loop {
                Clock::Manual(sleeper.clone()).sleep(Duration::from_millis(1)).await;
                seen.lock().push(sleeper.now_ms());
            }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(30 * 86_400)).await;
        let (looks, month_ms) = (looks.lock(), 30 * 86_400_000);
        assert_eq!(clock.now_ms(), month_ms);
        assert!(looks.iter().zip(1..).take(STEPS_MAX as usize - 1).all(|(look, ms)| *look == ms), "each in its time");
        assert_eq!(looks.last(), Some(&month_ms), "and once more at the end");
        assert!(looks.len() <= STEPS_MAX as usize + 2, "{}", looks.len());
    }
}
