//! Worker threads that take the place of those that a plugin holds.
//!
//! A runtime's number of worker threads is fixed, so the spare ones are there from the start, each occupied by a task that blocks
//! it. Releasing one ends its task.

use gateway_plugins::polls::set_spare_threads;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use tokio::runtime::Handle;

/// Even a small machine survives two plugins that hang.
const COUNT_MIN: usize = 4;
const COUNT_MAX: usize = 64;

#[derive(Clone)]
pub(crate) struct SpareThreads {
    count: usize,
    budget: Arc<ThreadBudget>,
}

#[derive(Default)]
struct ThreadBudget {
    /// How many may run, and how many do.
    threads: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl SpareThreads {
    /// Enough for two plugins that hold as many threads as they can, within reason.
    pub(crate) fn for_polls(polls_max: usize) -> Self {
        let count = polls_max.saturating_mul(2).clamp(COUNT_MIN, COUNT_MAX);
        set_spare_threads(count);
        Self { count, budget: Arc::default() }
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Blocks a worker thread of the runtime for each.
    pub(crate) fn occupy(&self, runtime: &Handle) {
        for _ in 0..self.count {
            let budget = self.budget.clone();
            drop(runtime.spawn(async move { budget.wait() }));
        }
    }

    /// Lets as many threads work as are lost. They stay when a lost one comes back: one too many harms nobody.
    pub(crate) fn replace(&self, lost: usize) {
        let mut threads = self.budget.threads.lock();
        let wanted = lost.min(self.count);
        if wanted > threads.0 {
            tracing::warn!(lost, spare = self.count - wanted, "spare threads serve in the place of lost ones");
            threads.0 = wanted;
            set_spare_threads(self.count - wanted);
            self.budget.changed.notify_all();
        }
    }
}

impl ThreadBudget {
    fn wait(&self) {
        let mut threads = self.threads.lock();
        self.changed.wait_while(&mut threads, |(may_run, run)| run >= may_run);
        threads.1 += 1;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_spare_thread_works_when_the_others_are_lost() {
        let spare = SpareThreads::for_polls(1);
        let threads = 1 + spare.count();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).build().unwrap();
        spare.occupy(runtime.handle());
        let (lost, is_lost) = std::sync::mpsc::channel();
        drop(runtime.spawn(async move {
            lost.send(()).unwrap();
            std::thread::park();
        }));
        is_lost.recv().unwrap();
        spare.replace(1);
        let (ran, has_run) = std::sync::mpsc::channel();
        drop(runtime.spawn(async move { ran.send(()).unwrap() }));
        has_run.recv().unwrap();
        runtime.shutdown_background();
    }
}
