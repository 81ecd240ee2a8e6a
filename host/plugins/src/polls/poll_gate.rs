//! How many polls of one plugin run at the same time.
//!
//! The rule: who is turned away is in the queue before it looks again, and whoever leaves looks at the queue after it left, so
//! that nobody waits while there is a free permit. Without a queue, a poll costs two atomic operations and no lock.

use super::{
    operation_registry::OperationNumber,
    polls_max,
    reaper::Reaper,
    thread_slot::{PollPermits, is_inside, pop, push},
};
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    task::Waker,
};

/// The plugin held a thread: none of its code is polled any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateClosed;

pub struct PollGate {
    /// Tells gates apart; never 0.
    number: u64,
    max: usize,
    running: AtomicUsize,
    is_closed: AtomicBool,
    queue_length: AtomicUsize,
    queue: Mutex<Queue>,
    pub(super) reaper: Reaper,
}

#[derive(Default)]
struct Queue {
    last_ticket: u64,
    waiting: VecDeque<(u64, Waker)>,
}

/// The position of one future in the queue, if it ever waited.
#[derive(Default)]
pub(super) struct Ticket(Option<u64>);

impl Ticket {
    pub(super) const NONE: Self = Self(None);
}

pub(super) enum Admission<'a> {
    Entered(PollGuard<'a>),
    /// The waker is called when there is a free permit.
    Waits,
    Closed,
}

/// A poll that runs.
pub(super) struct PollGuard<'a> {
    gate: &'a PollGate,
    /// A poll inside of another one of the same plugin on the same thread takes no permit.
    takes_permit: bool,
}

impl Default for PollGate {
    fn default() -> Self {
        Self::new(polls_max())
    }
}

impl PollGate {
    pub fn new(max: usize) -> Self {
        static GATES: AtomicU64 = AtomicU64::new(1);
        Self {
            number: GATES.fetch_add(1, SeqCst),
            max,
            running: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            queue_length: AtomicUsize::new(0),
            queue: Mutex::default(),
            reaper: Reaper::default(),
        }
    }

    /// Admits no polls any more, and wakes those that wait, so that they end.
    pub fn close(&self) {
        self.is_closed.store(true, SeqCst);
        let waiting = {
            let mut queue = self.queue.lock();
            self.queue_length.store(0, SeqCst);
            std::mem::take(&mut queue.waiting)
        };
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(SeqCst)
    }

    pub(super) fn admit(&self, operation: OperationNumber, ticket: &mut Ticket, waker: &Waker) -> Admission<'_> {
        loop {
            if self.is_closed() {
                return Admission::Closed;
            }
            if let Some(entered) = self.try_enter(operation) {
                self.forget(ticket);
                return Admission::Entered(entered);
            }
            self.enqueue(ticket, waker);
            let has_room = self.running.load(SeqCst) < self.max;
            if !has_room && !self.is_closed() {
                return Admission::Waits;
            }
        }
    }

    /// Enters if there is a free permit, also when the gate is closed.
    pub(super) fn try_enter(&self, operation: OperationNumber) -> Option<PollGuard<'_>> {
        let has_room = |running: usize| (running < self.max).then_some(running + 1);
        let takes_permit = self.running.fetch_update(SeqCst, SeqCst, has_room).is_ok();
        if !takes_permit && !is_inside(self.number) {
            return None;
        }
        push(self.number, operation);
        Some(PollGuard { gate: self, takes_permit })
    }

    fn enqueue(&self, ticket: &mut Ticket, waker: &Waker) {
        let mut queue = self.queue.lock();
        let own = ticket.0;
        match queue.waiting.iter_mut().find(|(number, _)| Some(*number) == own) {
            Some((_, known)) => known.clone_from(waker),
            None => {
                queue.last_ticket += 1;
                let number = queue.last_ticket;
                queue.waiting.push_back((number, waker.clone()));
                ticket.0 = Some(number);
            }
        }
        self.queue_length.store(queue.waiting.len(), SeqCst);
    }

    /// Leaves the queue. `false`: it was called already.
    fn forget(&self, ticket: &mut Ticket) -> bool {
        let Some(number) = ticket.0.take() else { return true };
        let mut queue = self.queue.lock();
        let before = queue.waiting.len();
        queue.waiting.retain(|(waiting, _)| *waiting != number);
        self.queue_length.store(queue.waiting.len(), SeqCst);
        queue.waiting.len() < before
    }

    /// A future that ends without its poll hands its call on.
    pub(super) fn cancel(&self, ticket: &mut Ticket) {
        if !self.forget(ticket) {
            self.call_next();
        }
    }

    fn call_next(&self) {
        if self.queue_length.load(SeqCst) == 0 {
            return;
        }
        let next = {
            let mut queue = self.queue.lock();
            let next = queue.waiting.pop_front();
            self.queue_length.store(queue.waiting.len(), SeqCst);
            next
        };
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

impl PollPermits for PollGate {
    fn gate(&self) -> u64 {
        self.number
    }

    fn release(&self) {
        self.running.fetch_sub(1, SeqCst);
        self.call_next();
    }

    fn reacquire(&self) {
        self.running.fetch_add(1, SeqCst);
    }
}

impl Drop for PollGuard<'_> {
    fn drop(&mut self) {
        pop();
        if self.takes_permit {
            self.gate.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::task::{ArcWake, waker};
    use std::sync::Arc;

    const OPERATION: OperationNumber = OperationNumber(1);

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl ArcWake for Calls {
        fn wake_by_ref(calls: &Arc<Self>) {
            calls.0.fetch_add(1, SeqCst);
        }
    }

    /// One poll that stays on another thread: on its own thread a plugin's poll may nest.
    fn occupied(gate: &PollGate) {
        gate.running.fetch_add(1, SeqCst);
    }

    fn vacate(gate: &PollGate) {
        gate.running.fetch_sub(1, SeqCst);
        gate.call_next();
    }

    fn is_admitted(gate: &PollGate, ticket: &mut Ticket, calls: &Arc<Calls>) -> bool {
        matches!(gate.admit(OPERATION, ticket, &waker(calls.clone())), Admission::Entered(_))
    }

    #[test]
    fn whoever_leaves_calls_the_next_one() {
        let (gate, calls) = (PollGate::new(1), Arc::<Calls>::default());
        let (mut first, mut second) = (Ticket::default(), Ticket::default());
        occupied(&gate);
        assert!(!is_admitted(&gate, &mut first, &calls) && !is_admitted(&gate, &mut second, &calls));
        vacate(&gate);
        assert_eq!(calls.0.load(SeqCst), 1);
        assert!(is_admitted(&gate, &mut first, &calls));
        assert_eq!(calls.0.load(SeqCst), 2, "the first one called the second");
        assert!(is_admitted(&gate, &mut second, &calls));
        assert_eq!(calls.0.load(SeqCst), 2, "nobody waits any more");
    }

    #[test]
    fn one_that_was_called_and_gives_up_hands_the_call_on() {
        let (gate, gone, left) = (PollGate::new(1), Arc::<Calls>::default(), Arc::<Calls>::default());
        let (mut first, mut second) = (Ticket::default(), Ticket::default());
        occupied(&gate);
        assert!(!is_admitted(&gate, &mut first, &gone) && !is_admitted(&gate, &mut second, &left));
        vacate(&gate);
        assert_eq!((gone.0.load(SeqCst), left.0.load(SeqCst)), (1, 0));
        gate.cancel(&mut first);
        assert_eq!(left.0.load(SeqCst), 1);
    }

    #[test]
    fn one_that_gives_up_while_it_waits_is_not_called() {
        let (gate, gone, left) = (PollGate::new(1), Arc::<Calls>::default(), Arc::<Calls>::default());
        let (mut first, mut second) = (Ticket::default(), Ticket::default());
        occupied(&gate);
        assert!(!is_admitted(&gate, &mut first, &gone) && !is_admitted(&gate, &mut second, &left));
        gate.cancel(&mut first);
        vacate(&gate);
        assert_eq!((gone.0.load(SeqCst), left.0.load(SeqCst)), (0, 1));
    }

    #[test]
    fn a_poll_inside_of_another_one_needs_no_room() {
        let gate = PollGate::new(1);
        let outer = gate.try_enter(OPERATION);
        let inner = gate.try_enter(OPERATION);
        assert!(outer.is_some() && inner.is_some(), "it would wait for itself");
        drop(inner);
        assert_eq!(gate.running.load(SeqCst), 1);
        drop(outer);
        assert_eq!(gate.running.load(SeqCst), 0);
    }

    #[test]
    fn a_closed_gate_calls_all_and_admits_none() {
        let (gate, calls) = (PollGate::new(1), Arc::<Calls>::default());
        let mut tickets: [Ticket; 3] = Default::default();
        occupied(&gate);
        assert!(tickets.iter_mut().all(|ticket| !is_admitted(&gate, ticket, &calls)));
        gate.close();
        assert_eq!(calls.0.load(SeqCst), 3);
        vacate(&gate);
        let is_closed = |ticket: &mut Ticket| matches!(gate.admit(OPERATION, ticket, Waker::noop()), Admission::Closed);
        assert!(tickets.iter_mut().all(is_closed));
    }
}
