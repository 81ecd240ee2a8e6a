//! A queue between async callers and database threads: bounded, closable, first in, first out.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// More waiting jobs than this are refused: nobody would get an answer in time.
const WAITING_MAX: usize = 10_000;

pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Full,
    Closed,
}

impl<T> Queue<T> {
    pub fn new() -> Self {
        Self { state: Mutex::new(State { waiting: VecDeque::new(), closed: false }), changed: Condvar::new() }
    }

    pub fn push(&self, job: T) -> Result<(), Refused> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.waiting.len() >= WAITING_MAX {
            return Err(Refused::Full);
        }
        state.waiting.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for a job; `None` when the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    /// No new jobs from now on; those that wait are still served.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }
}
