//! Short reads, run on the thread that asks: a hop to another thread and back costs more than most of them.
//!
//! The rule: a thread that serves requests is never held for long. Only statements whose last runs were short come
//! here; one that takes longer than [`LONGEST`] this time is stopped, and a reader thread runs it from the beginning. So
//! is one that meets a lock, or fails in any other way.

use super::{connection::Guarded, execute::execute, watch::Cancelled};
use crate::storage::{check::Admitted, limits::Room};
use parking_lot::Mutex;
use plugin_api::abi::Rows;
use std::time::{Duration, Instant};

/// Looked at every thousand instructions of SQLite's machine.
const LONGEST: Duration = Duration::from_millis(1);

/// Connections that nobody uses right now; none when it is closed.
pub struct Inline {
    idle: Mutex<Option<Vec<Guarded>>>,
    /// Who asks cannot leave meanwhile.
    never: Cancelled,
}

impl Inline {
    pub fn new(connections: Vec<Guarded>) -> Self {
        Self { idle: Mutex::new(Some(connections)), never: Cancelled::default() }
    }

    /// The rows, or nothing: then it is the reader threads' to answer.
    pub fn read(&self, admitted: &Admitted) -> Option<Rows> {
        let pace = &admitted.plan.pace;
        if !pace.is_short() {
            return None;
        }
        let guarded = self.idle.lock().as_mut()?.pop()?;
        let begun = Instant::now();
        let outcome = execute(&guarded, admitted, begun + LONGEST, &self.never, &mut Room::new());
        if outcome.is_ok() {
            pace.note(begun.elapsed());
        } else {
            pace.distrust();
        }
        if let Some(idle) = self.idle.lock().as_mut() {
            idle.push(guarded);
        }
        outcome.ok().map(|outcome| outcome.rows)
    }

    /// Closes the connections; one that is at work closes when it is done.
    pub fn close(&self) {
        *self.idle.lock() = None;
    }
}
