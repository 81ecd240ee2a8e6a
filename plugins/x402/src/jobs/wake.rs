//! Asks for a run of the job `settle`, once until it begins: each request is a write, and under load each call would make one.

use crate::{X402, store::batches::SETTLE_JOB};
use plugin_api::{HostError, PluginContext};
use std::sync::atomic::{
    AtomicI64,
    Ordering::{Acquire, Release},
};

/// After that it is asked for again: another gateway may run the job, which this one does not see.
const ASKED_MS: i64 = 1000;

/// Whether a run is asked for that has not begun.
#[derive(Debug, Default)]
pub struct SettleWake {
    /// When it was asked for, in Unix milliseconds; 0 when a run has begun since.
    asked_ms: AtomicI64,
}

impl SettleWake {
    pub fn is_asked(&self, now_ms: i64) -> bool {
        let asked_ms = self.asked_ms.load(Acquire);
        asked_ms != 0 && (0..ASKED_MS).contains(&(now_ms - asked_ms))
    }

    /// A run that begins after this sees what the caller has committed.
    pub async fn ask(&self, cx: &PluginContext<X402>) -> Result<(), HostError> {
        let now_ms = cx.now_ms();
        if self.is_asked(now_ms) {
            return Ok(());
        }
        self.asked_ms.store(now_ms, Release);
        let woken = cx.wake(SETTLE_JOB).await;
        if woken.is_err() {
            self.begun();
        }
        woken
    }

    /// The run reads the queue after this.
    pub fn begun(&self) {
        self.asked_ms.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_asked_for_until_it_begins_or_a_second_is_over() {
        let wake = SettleWake::default();
        assert!(!wake.is_asked(0) && !wake.is_asked(5000));
        wake.asked_ms.store(5000, Release);
        assert!(wake.is_asked(5000) && wake.is_asked(5999));
        assert!(!wake.is_asked(6000), "another gateway may have run it");
        assert!(!wake.is_asked(4999), "the clock was set back");
        wake.begun();
        assert!(!wake.is_asked(5000));
    }
}
