//! Stops a statement that runs too long or that nobody waits for any more.
//!
//! The rule: stopping one statement never hits the next. Each statement carries its own limits, and the connection's own
//! thread looks at them while it runs, so there is no moment at which a late stop could reach something else.

use parking_lot::Mutex;
use rusqlite::Connection;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

/// Instructions of SQLite's machine between two looks: some ten microseconds.
const LOOK_EVERY: std::ffi::c_int = 1000;

/// Set by a caller that no longer waits.
pub type Cancelled = Arc<AtomicBool>;

#[derive(Clone)]
pub struct Bounds {
    pub deadline: Instant,
    pub cancelled: Option<Cancelled>,
}

impl Bounds {
    fn exceeded(&self) -> bool {
        let cancelled = |flag: &Cancelled| flag.load(Relaxed);
        self.cancelled.as_ref().is_some_and(cancelled) || Instant::now() >= self.deadline
    }
}

#[derive(Clone)]
pub struct Watch {
    current: Arc<Mutex<Option<Bounds>>>,
}

impl Watch {
    pub fn over(connection: &Connection) -> rusqlite::Result<Self> {
        let current: Arc<Mutex<Option<Bounds>>> = Arc::default();
        let seen = Arc::clone(&current);
        let stop = move || seen.lock().as_ref().is_some_and(Bounds::exceeded);
        connection.progress_handler(LOOK_EVERY, Some(stop))?;
        Ok(Self { current })
    }

    /// Bounds the statements that run until the guard is dropped.
    pub fn bound(&self, bounds: Bounds) -> Bound<'_> {
        *self.current.lock() = Some(bounds);
        Bound { watch: self }
    }

    /// Other bounds for what runs under the same guard.
    pub fn change(&self, bounds: Bounds) {
        *self.current.lock() = Some(bounds);
    }
}

pub struct Bound<'w> {
    watch: &'w Watch,
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        *self.watch.current.lock() = None;
    }
}
