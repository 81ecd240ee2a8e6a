//! What happened in a run, a line for each event; two runs of one seed have the same lines.

use crate::machine;
use sha2::{Digest as _, Sha256};
use std::{cell::RefCell, rc::Rc};

#[derive(Clone, Default)]
pub struct Trace(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    hash: Sha256,
    lines: u64,
    is_printed: bool,
}

impl Trace {
    pub fn new(is_printed: bool) -> Self {
        Self(Rc::new(RefCell::new(State { is_printed, ..State::default() })))
    }

    pub fn record(&self, actor: &str, event: &str) {
        let line = format!("{} {actor} {event}\n", machine::now_ms());
        let mut state = self.0.borrow_mut();
        state.hash.update(line.as_bytes());
        state.lines += 1;
        if state.is_printed {
            print!("{line}");
        }
    }

    pub fn lines(&self) -> u64 {
        self.0.borrow().lines
    }

    /// SHA-256 of the lines.
    pub fn digest(&self) -> String {
        hex::encode(self.0.borrow().hash.clone().finalize())
    }
}
