//! The turn of a thread: a real wait, outside of the simulation.

use super::real;
use nix::libc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
pub(super) struct Turn(AtomicU32);

impl Turn {
    /// Lives as long as the process: a thread that was killed waits for it for ever.
    pub(super) fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    pub(super) fn give(&self) {
        self.0.store(1, Ordering::Release);
        real::futex(&self.0, libc::FUTEX_WAKE, 1);
    }

    /// Returns when the turn was given.
    pub(super) fn take(&self) {
        while self.0.swap(0, Ordering::Acquire) == 0 {
            real::futex(&self.0, libc::FUTEX_WAIT, 0);
        }
    }
}
