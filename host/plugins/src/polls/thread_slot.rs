//! What each thread runs now: the innermost operation of a plugin, and since which tick of the watchdog.
//!
//! The rule: time that an operation spends in another one, or in the gateway, is not its own.

use super::operation_registry::OperationNumber;
use crate::crash_record;
use parking_lot::Mutex;
use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

/// The watchdog's clock: it costs a poll one load. A process that is stopped or starved does not age.
pub(super) static TICK: AtomicU32 = AtomicU32::new(0);

/// Every thread that ever ran a plugin's poll.
pub(super) static SLOTS: Mutex<Vec<Arc<ThreadSlot>>> = Mutex::new(Vec::new());

/// What others see of a thread.
#[derive(Default)]
pub(super) struct ThreadSlot {
    word: SlotWord,
    /// The plugins whose polls on this thread wait for the one that runs, the outermost first.
    callers: Mutex<Vec<Caller>>,
}

/// Operation in the upper half, tick in the lower one; 0 outside of plugins. It lies in memory that outlives the process, if there is.
enum SlotWord {
    Own(AtomicU64),
    Recorded { number: usize, value: &'static AtomicU64 },
}

/// The permits to poll of one plugin: so many polls of it run at a time.
pub(super) trait PollPermits: Send + Sync {
    /// The number of the plugin's gate.
    fn gate(&self) -> u64;
    /// The thread of the poll is lost to another plugin, so one more poll may run.
    fn release(&self);
    /// The thread came back after all.
    fn reacquire(&self);
}

struct Caller {
    permits: Arc<dyn PollPermits>,
    is_released: bool,
}

impl Default for SlotWord {
    fn default() -> Self {
        match crash_record::take_slot() {
            Some((number, value)) => Self::Recorded { number, value },
            None => Self::Own(AtomicU64::new(0)),
        }
    }
}

impl Drop for SlotWord {
    fn drop(&mut self) {
        if let Self::Recorded { number, value } = self {
            value.store(0, Relaxed);
            crash_record::release_slot(*number);
        }
    }
}

impl ThreadSlot {
    pub(super) fn now(&self) -> Option<(OperationNumber, u32)> {
        let value = self.value().load(Relaxed);
        let (operation, since) = (OperationNumber(u32::try_from(value >> 32).unwrap_or_default()), low_half(value));
        (operation != OperationNumber::HOST).then_some((operation, since))
    }

    const fn value(&self) -> &AtomicU64 {
        match &self.word {
            SlotWord::Own(value) => value,
            SlotWord::Recorded { value, .. } => value,
        }
    }

    /// The thread is lost to the plugin that runs now: these plugins may run one more poll each. A plugin in a circle of calls has
    /// taken one for all of its polls.
    pub(super) fn lose(&self) -> Vec<Arc<dyn PollPermits>> {
        let (mut gates, mut permits) = (Vec::new(), Vec::new());
        for caller in self.callers.lock().iter_mut() {
            let gate = caller.permits.gate();
            if gates.contains(&gate) {
                continue;
            }
            gates.push(gate);
            if !caller.is_released {
                caller.is_released = true;
                permits.push(caller.permits.clone());
            }
        }
        permits
    }

    fn publish(&self, frame: Option<&Frame>) {
        let value = frame.map_or(0, |frame| (u64::from(frame.operation.0) << 32) | u64::from(frame.since));
        self.value().store(value, Relaxed);
    }
}

fn low_half(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or_default()
}

/// One call on the thread's stack.
struct Frame {
    /// Whose it is, by the number of the gate; 0 for the gateway.
    gate: u64,
    operation: OperationNumber,
    since: u32,
}

struct ThreadFrames {
    slot: Arc<ThreadSlot>,
    /// Calls nest: what a plugin collects are polls of others. The memory is kept.
    stack: RefCell<Vec<Frame>>,
}

thread_local! {
    static FRAMES: ThreadFrames = {
        let slot = Arc::<ThreadSlot>::default();
        SLOTS.lock().push(slot.clone());
        ThreadFrames { slot, stack: RefCell::default() }
    };
}

/// Whether a poll of this gate is on the stack of the thread.
pub(super) fn is_inside(gate: u64) -> bool {
    FRAMES.with(|frames| frames.stack.borrow().iter().any(|frame| frame.gate == gate))
}

pub(super) fn push(gate: u64, operation: OperationNumber) {
    FRAMES.with(|frames| {
        let frame = Frame { gate, operation, since: TICK.load(Relaxed) };
        frames.slot.publish(Some(&frame));
        frames.stack.borrow_mut().push(frame);
    });
}

pub(super) fn pop() {
    FRAMES.with(|frames| {
        let mut stack = frames.stack.borrow_mut();
        let Some(ended) = stack.pop() else { return };
        let elapsed = TICK.load(Relaxed).wrapping_sub(ended.since);
        if let Some(outer) = stack.last_mut() {
            outer.since = outer.since.wrapping_add(elapsed);
        }
        frames.slot.publish(stack.last());
    });
}

/// A plugin calls others; dropped when their code has returned.
pub(super) struct CallerFrame {
    /// Not so when it calls from a thread of its own.
    is_in_poll: bool,
}

impl CallerFrame {
    pub(super) fn enter(permits: Arc<dyn PollPermits>) -> Self {
        let is_in_poll = is_inside(permits.gate());
        if is_in_poll {
            FRAMES.with(|frames| frames.slot.callers.lock().push(Caller { permits, is_released: false }));
        }
        Self { is_in_poll }
    }
}

impl Drop for CallerFrame {
    fn drop(&mut self) {
        if !self.is_in_poll {
            return;
        }
        let caller = FRAMES.with(|frames| frames.slot.callers.lock().pop());
        if let Some(Caller { permits, is_released: true }) = caller {
            permits.reacquire();
        }
    }
}

/// The operation of the plugin's code that runs on this thread now, if any does.
pub(crate) fn current_operation() -> Option<OperationNumber> {
    let innermost = FRAMES.with(|frames| frames.stack.borrow().last().map(|frame| frame.operation));
    innermost.filter(|operation| *operation != OperationNumber::HOST)
}

/// Code of a plugin that may take its time: blocking work, `stop`, a last drop. If it ends the process, the next start names it. The
/// watchdog does not see it.
pub struct UnwatchedFrame {
    /// Cleared when it is dropped.
    _slot: ThreadSlot,
}

impl UnwatchedFrame {
    pub fn enter(operation: OperationNumber) -> Self {
        let slot = ThreadSlot::default();
        slot.publish(Some(&Frame { gate: 0, operation, since: 0 }));
        Self { _slot: slot }
    }
}

/// The gateway's own code, called by a plugin's.
pub(crate) struct HostFrame(());

impl HostFrame {
    pub(crate) fn enter() -> Self {
        push(0, OperationNumber::HOST);
        Self(())
    }
}

impl Drop for HostFrame {
    fn drop(&mut self) {
        pop();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// What this thread publishes; the ticks of other tests do not matter: `since` is compared with a tick of before.
    fn published() -> Option<OperationNumber> {
        FRAMES.with(|frames| frames.slot.now().map(|(operation, _)| operation))
    }

    #[test]
    fn a_thread_publishes_the_innermost_place() {
        assert_eq!(published(), None);
        push(1, OperationNumber(7));
        assert_eq!(published(), Some(OperationNumber(7)));
        push(2, OperationNumber(8));
        assert_eq!((published(), is_inside(1), is_inside(3)), (Some(OperationNumber(8)), true, false));
        {
            let _host = HostFrame::enter();
            assert_eq!(published(), None, "time in the gateway is nobody's");
        }
        pop();
        assert_eq!((published(), is_inside(2)), (Some(OperationNumber(7)), false));
        pop();
        assert_eq!(published(), None);
    }

    #[test]
    fn the_watchdog_does_not_see_code_that_may_take_its_time() {
        let operation = OperationNumber(u32::MAX);
        let frame = UnwatchedFrame::enter(operation);
        assert_eq!(frame._slot.now(), Some((operation, 0)), "the crash record does");
        let is_seen = SLOTS.lock().iter().filter_map(|slot| slot.now()).any(|(seen, _)| seen == operation);
        assert!(!is_seen && published().is_none() && current_operation().is_none());
    }

    #[test]
    fn time_in_an_inner_place_is_not_the_outer_ones() {
        push(1, OperationNumber(7));
        let since = FRAMES.with(|frames| frames.slot.now()).unwrap().1;
        push(2, OperationNumber(8));
        TICK.fetch_add(30, Relaxed);
        pop();
        let shifted = FRAMES.with(|frames| frames.slot.now()).unwrap().1;
        assert!(shifted.wrapping_sub(since) >= 30, "{since} {shifted}");
        pop();
    }
}
