//! Finds polls that do not return. Rule: each is reported once, and its thread counts as lost for as long as it lasts.

use super::{
    lost_threads::{ThreadCounts, set_in_polls},
    operation_registry::{self, OperationNumber},
    process_time,
    thread_slot::{SLOTS, TICK, ThreadSlot},
};
use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// How long one poll may take.
pub(crate) const THREAD_LIMIT: Duration = Duration::from_secs(1);

/// Threads that can still take the place of lost ones.
static SPARE: AtomicUsize = AtomicUsize::new(0);

/// What threads run at this moment: plugin and operation.
pub fn running_operations() -> Vec<(Arc<str>, Arc<str>)> {
    let running: Vec<OperationNumber> =
        SLOTS.lock().iter().filter_map(|slot| slot.now()).map(|(operation, _)| operation).collect();
    running
        .into_iter()
        .filter_map(operation_registry::find)
        .map(|operation| (operation.plugin, operation.name))
        .collect()
}

pub fn set_spare_threads(count: usize) {
    SPARE.store(count, Relaxed);
}

/// Whether one more plugin may lose as many threads as it can.
pub fn has_spare_threads() -> bool {
    SPARE.load(Relaxed) >= super::polls_max()
}

/// Of one process; its owner calls [`Self::look`] at a fixed interval, from a thread that runs nothing else.
pub struct ThreadWatchdog {
    limit_ticks: u32,
    /// The polls that were reported and have not returned.
    hung: Vec<(Weak<ThreadSlot>, (OperationNumber, u32))>,
}

impl ThreadWatchdog {
    pub fn new(interval: Duration) -> Self {
        process_time::set_interval(interval);
        let ticks = THREAD_LIMIT.as_millis().div_ceil(interval.as_millis().max(1));
        Self { limit_ticks: u32::try_from(ticks).unwrap_or(u32::MAX), hung: Vec::new() }
    }

    /// Reports polls that have just exceeded the limit. Returns how many threads hang now.
    pub fn look(&mut self) -> usize {
        let tick = TICK.fetch_add(1, Relaxed).wrapping_add(1);
        let mut is_changed = false;
        self.hung.retain(|(slot, poll)| {
            let hangs = slot.upgrade().is_some_and(|slot| slot.now() == Some(*poll));
            is_changed |= !hangs;
            hangs
        });
        let mut slots = SLOTS.lock();
        // Threads that ended have dropped theirs.
        slots.retain(|slot| Arc::strong_count(slot) > 1);
        let (mut found, mut permits) = (Vec::new(), Vec::new());
        for slot in slots.iter() {
            let Some(poll @ (operation, since)) = slot.now() else { continue };
            let is_known = || self.hung.iter().any(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(slot)));
            if tick.wrapping_sub(since) >= self.limit_ticks && !is_known() {
                self.hung.push((Arc::downgrade(slot), poll));
                found.push(operation);
                permits.extend(slot.lose());
            }
        }
        drop(slots);
        if is_changed || !found.is_empty() {
            self.count();
        }
        for operation in found.into_iter().filter_map(operation_registry::find) {
            if let Some(observer) = operation.observer.upgrade() {
                observer.poll_hangs(&operation.name);
            }
        }
        // Who waits for a permit calls a plugin that is fenced by now.
        permits.iter().for_each(|plugin| plugin.release());
        self.hung.len()
    }

    fn count(&self) {
        let mut lost = ThreadCounts::new();
        for operation in self.hung.iter().filter_map(|(_, (operation, _))| operation_registry::find(*operation)) {
            *lost.entry(operation.plugin).or_default() += 1;
        }
        set_in_polls(lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polls::{
        lost_threads::threads_lost,
        operation_registry::{HungPollObserver, register},
        poll_gate::PollGate,
        thread_slot::{CallerFrame, pop, push},
    };
    use parking_lot::Mutex;
    use std::thread;

    #[derive(Default)]
    struct RecordingHolder(Mutex<Vec<String>>);

    impl HungPollObserver for RecordingHolder {
        fn poll_hangs(&self, operation: &str) {
            self.0.lock().push(operation.to_owned());
        }
    }

    #[test]
    fn a_poll_that_does_not_return_is_reported_once_and_counted_until_it_does() {
        let holder = Arc::<RecordingHolder>::default();
        let observer: Arc<dyn HungPollObserver> = holder.clone();
        let operation = register(&"hangs".into(), "list_things", Arc::downgrade(&observer));
        let mut watchdog = ThreadWatchdog::new(THREAD_LIMIT / 4);
        push(u64::MAX, operation);
        // Other tests move the same clock; the limit is reached after 4 looks at the latest.
        for _ in 0..8 {
            watchdog.look();
        }
        assert_eq!(*holder.0.lock(), ["list_things"]);
        assert_eq!(threads_lost("hangs"), 1);
        pop();
        watchdog.look();
        assert_eq!((threads_lost("hangs"), holder.0.lock().len()), (0, 1));
    }

    #[test]
    fn a_thread_that_another_plugin_holds_is_no_room_of_the_caller() {
        let (caller, held) = (Arc::new(PollGate::new(1)), PollGate::new(1));
        let observer: Arc<dyn HungPollObserver> = Arc::<RecordingHolder>::default();
        let operation = |name: &str| register(&"calls".into(), name, Arc::downgrade(&observer));
        let (calls, hangs) = (operation("calls"), operation("hangs"));
        // On this thread a poll of the caller would be inside of another one.
        let has_room = || thread::scope(|scope| scope.spawn(|| caller.try_enter(calls).is_some()).join()).ok();
        let poll = caller.try_enter(calls);
        let (call, circle) = (CallerFrame::enter(caller.clone()), CallerFrame::enter(caller.clone()));
        let poll_of_held = held.try_enter(hangs);
        assert_eq!(has_room(), Some(false));
        let mut watchdog = ThreadWatchdog::new(THREAD_LIMIT / 4);
        for _ in 0..8 {
            watchdog.look();
        }
        assert_eq!(has_room(), Some(true));
        drop((poll_of_held, circle, call));
        assert_eq!(has_room(), Some(false), "the thread came back");
        drop(poll);
        assert_eq!(has_room(), Some(true));
    }
}
