//! A queue between async callers and database threads: bounded, closable, first in, first out.

use super::error::database_closed;
use crate::error::StorageError;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// Above this many waiting jobs new ones are refused: they would time out before they run.
pub(crate) const WAITING_MAX: usize = 10_000;

pub(crate) struct WorkQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    is_closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueError {
    Full,
    Closed,
}

impl From<EnqueueError> for StorageError {
    fn from(error: EnqueueError) -> Self {
        match error {
            EnqueueError::Full => Self::Busy("too many statements are waiting".into()),
            EnqueueError::Closed => database_closed(),
        }
    }
}

impl<T> WorkQueue<T> {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { waiting: VecDeque::new(), is_closed: false }), changed: Condvar::new() }
    }

    pub(crate) fn push(&self, job: T) -> Result<(), EnqueueError> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(EnqueueError::Closed);
        }
        if state.waiting.len() >= WAITING_MAX {
            return Err(EnqueueError::Full);
        }
        state.waiting.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for a job; `None` when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Refuses new jobs from now on; the waiting ones still run.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }
}
