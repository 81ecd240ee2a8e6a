//! Interrupts a statement that runs too long or whose caller no longer waits.
//!
//! The rule: interrupting one statement never hits the next. Each statement has its own limits, and the thread that
//! runs it checks them while it runs, so an interrupt cannot arrive late and hit another statement.

use parking_lot::Mutex;
use rusqlite::Connection;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

/// Instructions of SQLite's virtual machine between two checks: some ten microseconds.
const CHECK_EVERY: std::ffi::c_int = 1000;

/// Set by a caller that no longer waits.
pub(crate) type CancelFlag = Arc<AtomicBool>;

/// Tells the thread that runs a call that its caller no longer waits.
pub(crate) struct CancelOnDrop(pub CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[derive(Clone)]
pub(crate) struct StatementLimits {
    pub deadline: Instant,
    pub cancelled: Option<CancelFlag>,
}

impl StatementLimits {
    fn are_exceeded(&self) -> bool {
        let is_set = |flag: &CancelFlag| flag.load(Relaxed);
        self.cancelled.as_ref().is_some_and(is_set) || Instant::now() >= self.deadline
    }
}

#[derive(Clone)]
pub(crate) struct Interrupter {
    limits: Arc<Mutex<Option<StatementLimits>>>,
}

impl Interrupter {
    pub(crate) fn install(connection: &Connection) -> rusqlite::Result<Self> {
        let limits: Arc<Mutex<Option<StatementLimits>>> = Arc::default();
        let checked = Arc::clone(&limits);
        let must_interrupt = move || checked.lock().as_ref().is_some_and(StatementLimits::are_exceeded);
        connection.progress_handler(CHECK_EVERY, Some(must_interrupt))?;
        Ok(Self { limits })
    }

    /// Applies the limits until the guard is dropped.
    pub(crate) fn limit(&self, limits: StatementLimits) -> LimitGuard<'_> {
        self.set_limits(limits);
        LimitGuard { interrupter: self }
    }

    /// Replaces the limits; the guard of [`Self::limit`] removes these too.
    pub(crate) fn set_limits(&self, limits: StatementLimits) {
        *self.limits.lock() = Some(limits);
    }
}

pub(crate) struct LimitGuard<'i> {
    interrupter: &'i Interrupter,
}

impl Drop for LimitGuard<'_> {
    fn drop(&mut self) {
        *self.interrupter.limits.lock() = None;
    }
}
