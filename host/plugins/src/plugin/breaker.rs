//! The circuit breaker of one operation: too many faults pause it, and it comes back by itself.
//!
//! The rule: while it is paused, at most one call at a time is tried, and none before the pause is over. A call costs one load
//! while nothing is paused.

use gateway_clock::Backoff;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

/// How long an operation is paused, by how often it was before.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(600));

/// How many faults within which time are too many.
#[derive(Clone, Copy, Debug)]
pub struct FaultLimit {
    pub faults: usize,
    pub window: Duration,
}

/// An operation that callers do not get for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PausedOperation {
    /// As its faults name it: `create_note`, `job sweep`, `point stats`.
    pub operation: String,
    /// Unix milliseconds. Then one call is tried.
    pub until_ms: i64,
    /// How often it was paused in a row.
    pub pauses: u32,
    /// The fault that paused it, for the operator.
    pub reason: String,
}

/// What a fault means for its operation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FaultVerdict {
    Counted,
    /// There were too many: whoever knows whether faults count now has to pause it.
    Pause {
        reason: String,
    },
    /// The call that was to decide has failed: it is paused again, for longer.
    PausedAgain,
}

pub struct OperationBreaker {
    operation: String,
    is_open: AtomicBool,
    state: Mutex<BreakerState>,
}

#[derive(Default)]
struct BreakerState {
    recent: VecDeque<Instant>,
    is_pause_requested: bool,
    pause: Option<Pause>,
    /// How long the last pause was, and when it ended.
    last: Option<(u32, i64)>,
}

struct Pause {
    until_ms: i64,
    pauses: u32,
    reason: String,
    has_probe: bool,
}

/// The one call that decides whether the operation is back. Dropped without a result, it decides nothing, and another one is tried.
pub struct Probe(Arc<OperationBreaker>);

impl OperationBreaker {
    pub fn new(operation: &str) -> Arc<Self> {
        Arc::new(Self { operation: operation.to_owned(), is_open: AtomicBool::new(false), state: Mutex::default() })
    }

    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Whether a call may run now; `Some` probe when it is the one that decides.
    pub fn admit(self: &Arc<Self>, now_ms: impl FnOnce() -> i64) -> Result<Option<Probe>, PausedOperation> {
        if !self.is_open.load(SeqCst) {
            return Ok(None);
        }
        let mut state = self.state.lock();
        let Some(pause) = &mut state.pause else { return Ok(None) };
        if pause.has_probe || now_ms() < pause.until_ms {
            return Err(self.described(pause));
        }
        pause.has_probe = true;
        Ok(Some(Probe(self.clone())))
    }

    pub(crate) fn record_fault(&self, limit: FaultLimit, now_ms: i64, description: &str) -> FaultVerdict {
        let now = Instant::now();
        let mut state = self.state.lock();
        if let Some(pause) = &mut state.pause {
            // A call that began before the pause decides nothing.
            if !pause.has_probe {
                return FaultVerdict::Counted;
            }
            let pauses = pause.pauses + 1;
            let until_ms = now_ms + pause_ms(pauses);
            *pause = Pause { until_ms, pauses, reason: description.to_owned(), has_probe: false };
            return FaultVerdict::PausedAgain;
        }
        state.recent.push_back(now);
        while state.recent.front().is_some_and(|first| now.duration_since(*first) > limit.window) {
            state.recent.pop_front();
        }
        if state.recent.len() < limit.faults || state.is_pause_requested {
            return FaultVerdict::Counted;
        }
        state.is_pause_requested = true;
        let (count, window) = (state.recent.len(), limit.window);
        FaultVerdict::Pause { reason: format!("{count} faults within {window:?}; the last one: {description}") }
    }

    pub fn pause(&self, now_ms: i64, reason: &str) -> PausedOperation {
        let mut state = self.state.lock();
        // One that fails again soon after it came back goes on where it was.
        let pauses = match state.last {
            Some((pauses, ended_ms)) if now_ms - ended_ms < 2 * pause_ms(pauses) => pauses + 1,
            _ => 1,
        };
        let pause = Pause { until_ms: now_ms + pause_ms(pauses), pauses, reason: reason.to_owned(), has_probe: false };
        let described = self.described(&pause);
        state.pause = Some(pause);
        self.is_open.store(true, SeqCst);
        described
    }

    /// Forgets its faults and ends its pause, if there is one.
    pub fn reset(&self) -> bool {
        let mut state = self.state.lock();
        let was_paused = state.pause.is_some();
        *state = BreakerState::default();
        self.is_open.store(false, SeqCst);
        was_paused
    }

    /// Forgets its faults, which were not its own; a pause goes on.
    pub fn forget_faults(&self) {
        let mut state = self.state.lock();
        state.recent.clear();
        state.is_pause_requested = false;
    }

    pub fn paused(&self) -> Option<PausedOperation> {
        self.state.lock().pause.as_ref().map(|pause| self.described(pause))
    }

    fn described(&self, pause: &Pause) -> PausedOperation {
        PausedOperation {
            operation: self.operation.clone(),
            until_ms: pause.until_ms,
            pauses: pause.pauses,
            reason: pause.reason.clone(),
        }
    }
}

impl Probe {
    /// The call has ended. Without a fault of its operation since it began, the pause is over.
    pub fn end(self, now_ms: i64) -> bool {
        let mut state = self.0.state.lock();
        let Some(pause) = state.pause.take_if(|pause| pause.has_probe) else { return false };
        state.last = Some((pause.pauses, now_ms));
        state.recent.clear();
        state.is_pause_requested = false;
        self.0.is_open.store(false, SeqCst);
        true
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let Some(pause) = &mut self.0.state.lock().pause {
            pause.has_probe = false;
        }
    }
}

fn pause_ms(pauses: u32) -> i64 {
    let pause = BACKOFF.wait_after(pauses.saturating_sub(1));
    i64::try_from(pause.as_millis()).unwrap_or(i64::MAX)
}

impl PausedOperation {
    /// Rounded up: a call at that time is not too early.
    pub fn retry_after_s(&self, now_ms: i64) -> i64 {
        ((self.until_ms - now_ms).max(0) + 999) / 1000
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const LIMIT: FaultLimit = FaultLimit { faults: 2, window: Duration::from_secs(60) };

    fn paused_at(now_ms: i64) -> Arc<OperationBreaker> {
        let breaker = OperationBreaker::new("list_notes");
        assert_eq!(breaker.record_fault(LIMIT, now_ms, "first"), FaultVerdict::Counted);
        let FaultVerdict::Pause { reason } = breaker.record_fault(LIMIT, now_ms, "second") else { panic!("no pause") };
        assert_eq!(reason, "2 faults within 60s; the last one: second");
        assert_eq!(breaker.record_fault(LIMIT, now_ms, "third"), FaultVerdict::Counted, "asked for once");
        breaker.pause(now_ms, &reason);
        breaker
    }

    fn until(breaker: &OperationBreaker) -> i64 {
        breaker.paused().unwrap().until_ms
    }

    #[test]
    fn one_call_is_tried_when_the_pause_is_over() {
        let breaker = paused_at(1000);
        assert_eq!(until(&breaker), 6000);
        assert!(breaker.admit(|| 5999).is_err());
        let probe = breaker.admit(|| 6000).unwrap().unwrap();
        assert!(breaker.admit(|| 6000).is_err(), "one at a time");
        assert!(probe.end(6100));
        assert!(breaker.admit(|| 6100).unwrap().is_none() && breaker.paused().is_none());
        assert_eq!(breaker.record_fault(LIMIT, 6100, "again"), FaultVerdict::Counted, "its faults are forgotten");
    }

    #[test]
    fn pauses_grow_while_the_tried_calls_fail() {
        let breaker = paused_at(0);
        for expected_ms in [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000] {
            let now_ms = until(&breaker);
            let probe = breaker.admit(|| now_ms).unwrap().unwrap();
            assert_eq!(breaker.record_fault(LIMIT, now_ms, "still"), FaultVerdict::PausedAgain);
            assert!(!probe.end(now_ms), "a call that failed does not bring it back");
            assert_eq!(until(&breaker) - now_ms, expected_ms);
        }
    }

    #[test]
    fn one_that_fails_soon_after_it_came_back_is_paused_for_longer() {
        let breaker = paused_at(0);
        assert!(breaker.admit(|| 5000).unwrap().unwrap().end(5000));
        assert_eq!(breaker.pause(14_000, "again").until_ms, 24_000);
        assert!(breaker.admit(|| 24_000).unwrap().unwrap().end(24_000));
        assert_eq!(breaker.pause(1_000_000, "much later").until_ms, 1_005_000);
    }

    #[test]
    fn a_tried_call_whose_client_left_decides_nothing() {
        let breaker = paused_at(0);
        drop(breaker.admit(|| 5000).unwrap());
        assert!(breaker.paused().is_some());
        assert!(breaker.admit(|| 5000).unwrap().is_some(), "the next one is tried");
    }

    #[test]
    fn a_late_fault_of_an_earlier_call_does_not_prolong_the_pause() {
        let breaker = paused_at(0);
        assert_eq!(breaker.record_fault(LIMIT, 4000, "late"), FaultVerdict::Counted);
        assert_eq!(until(&breaker), 5000);
    }

    #[test]
    fn an_operator_ends_the_pause_at_once() {
        let breaker = paused_at(0);
        assert!(breaker.reset() && !breaker.reset());
        assert!(breaker.admit(|| 0).unwrap().is_none());
    }
}
