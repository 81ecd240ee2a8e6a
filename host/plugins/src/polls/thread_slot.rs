//! What each thread runs now: the innermost place of a plugin, and since which tick of the watchdog.
//!
//! The rule: time that a place spends in another one, or in the gateway, is not its own.

use super::place::PlaceId;
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

/// Place in the upper half, tick in the lower one; 0 outside of plugins. It lies in memory that outlives the process, if there is.
pub(super) enum ThreadSlot {
    Own(AtomicU64),
    Recorded { number: usize, value: &'static AtomicU64 },
}

impl Default for ThreadSlot {
    fn default() -> Self {
        match crash_record::take_slot() {
            Some((number, value)) => Self::Recorded { number, value },
            None => Self::Own(AtomicU64::new(0)),
        }
    }
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        if let Self::Recorded { number, value } = self {
            value.store(0, Relaxed);
            crash_record::release_slot(*number);
        }
    }
}

impl ThreadSlot {
    pub(super) fn now(&self) -> Option<(PlaceId, u32)> {
        let value = self.value().load(Relaxed);
        let (place, since) = (PlaceId(u32::try_from(value >> 32).unwrap_or_default()), low_half(value));
        (place != PlaceId::HOST).then_some((place, since))
    }

    const fn value(&self) -> &AtomicU64 {
        match self {
            Self::Own(value) => value,
            Self::Recorded { value, .. } => value,
        }
    }

    fn publish(&self, frame: Option<&Frame>) {
        let value = frame.map_or(0, |frame| (u64::from(frame.place.0) << 32) | u64::from(frame.since));
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
    place: PlaceId,
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

pub(super) fn push(gate: u64, place: PlaceId) {
    FRAMES.with(|frames| {
        let frame = Frame { gate, place, since: TICK.load(Relaxed) };
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

/// The gateway's own code, called by a plugin's.
pub struct HostFrame(());

impl HostFrame {
    pub fn enter() -> Self {
        push(0, PlaceId::HOST);
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
    fn published() -> Option<PlaceId> {
        FRAMES.with(|frames| frames.slot.now().map(|(place, _)| place))
    }

    #[test]
    fn a_thread_publishes_the_innermost_place() {
        assert_eq!(published(), None);
        push(1, PlaceId(7));
        assert_eq!(published(), Some(PlaceId(7)));
        push(2, PlaceId(8));
        assert_eq!((published(), is_inside(1), is_inside(3)), (Some(PlaceId(8)), true, false));
        {
            let _host = HostFrame::enter();
            assert_eq!(published(), None, "time in the gateway is nobody's");
        }
        pop();
        assert_eq!((published(), is_inside(2)), (Some(PlaceId(7)), false));
        pop();
        assert_eq!(published(), None);
    }

    #[test]
    fn time_in_an_inner_place_is_not_the_outer_ones() {
        push(1, PlaceId(7));
        let since = FRAMES.with(|frames| frames.slot.now()).unwrap().1;
        push(2, PlaceId(8));
        TICK.fetch_add(30, Relaxed);
        pop();
        let shifted = FRAMES.with(|frames| frames.slot.now()).unwrap().1;
        assert!(shifted.wrapping_sub(since) >= 30, "{since} {shifted}");
        pop();
    }
}
