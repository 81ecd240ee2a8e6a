//! The threads, what each waits for, and the clock.
#![allow(unsafe_code, reason = "the state belongs to the thread that has the turn, not to a lock")]

use super::{BOOT_NS, ports::Ports, real, turn::Turn};
use crate::dice::Dice;
use nix::libc;
use std::{
    cell::{Cell, UnsafeCell},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// What a look at the clock costs. Without it, code that spins until a time would never reach it.
const LOOK_NS: u64 = 1_000;
/// One in so many wakes gives the turn away at once.
const PREEMPT_ONE_IN: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    Ready,
    Futex { word: usize, bits: u32, until_ns: Option<u64> },
    Events { queue: i32, until_ns: Option<u64> },
    Sleep { until_ns: u64 },
    Join { number: usize },
}

pub(super) struct Thread {
    number: usize,
    group: Group,
    pub(super) handle: usize,
    wait: Wait,
    /// Whether what it waited for came, and not the end of its patience.
    was_woken: bool,
    turn: &'static Turn,
}

pub struct Machine {
    /// Those that can run, or could when what they wait for comes.
    threads: Vec<Thread>,
    thread_count: usize,
    pub(super) group: Group,
    group_count: u32,
    /// Groups whose threads get no turn.
    pub(super) paused: Vec<Group>,
    now_ns: u64,
    epoch_ms: i64,
    scheduling: Dice,
    pub(super) random: Dice,
    pub(super) ports: Ports,
    /// The thread of the kernel whose last turn was the one before.
    ended: Option<i64>,
    pub(super) switches: u64,
}

struct Shared(UnsafeCell<Option<Machine>>);

// SAFETY: only the thread that has the turn uses it; see `Turn`, whose store and load order these uses.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared(UnsafeCell::new(None));
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Of a thread that is not simulated.
const OUTSIDE: usize = usize::MAX;

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(OUTSIDE) };
}

pub(super) fn start(seed: u64, epoch_ms: i64) {
    let dice = Dice::new(seed);
    let machine = Machine {
        threads: vec![Thread {
            number: 0,
            group: Group(0),
            handle: 0,
            wait: Wait::Ready,
            was_woken: false,
            turn: Turn::leaked(),
        }],
        thread_count: 1,
        group: Group(0),
        group_count: 1,
        paused: Vec::new(),
        now_ns: BOOT_NS,
        epoch_ms,
        scheduling: dice.fork(1),
        random: dice.fork(2),
        ports: Ports::default(),
        ended: None,
        switches: 0,
    };
    // SAFETY: no other thread is simulated yet.
    unsafe { *SHARED.0.get() = Some(machine) };
    NUMBER.set(0);
    IS_ACTIVE.store(true, Relaxed);
}

/// Whether the calling thread is simulated.
pub(super) fn is_inside() -> bool {
    IS_ACTIVE.load(Relaxed) && NUMBER.get() != OUTSIDE
}

/// Uses the state; the calling thread has the turn. What is called must not wait.
pub(super) fn machine<T>(use_it: impl FnOnce(&mut Machine) -> T) -> T {
    if !is_inside() {
        give_up("a thread outside of the simulation uses it");
    }
    // SAFETY: the calling thread has the turn, and `use_it` does not call this function: nothing in this file does.
    let shared = unsafe { &mut *SHARED.0.get() };
    match shared {
        Some(machine) => use_it(machine),
        None => give_up("the simulation has not begun"),
    }
}

/// Waits, while others have the turn. Returns whether what it waited for came in time.
pub(super) fn wait(wait: Wait) -> bool {
    let (own, next) = machine(|machine| {
        let thread = machine.own();
        (thread.wait, thread.was_woken) = (wait, false);
        let own = (thread.number, thread.turn);
        (own, machine.choose())
    });
    if own.0 != next.0 {
        next.1.give();
        own.1.take();
        await_end();
    }
    machine(|machine| machine.own().was_woken)
}

/// After a thread was woken: the other one may run first.
pub(super) fn maybe_preempt() {
    if machine(|machine| machine.scheduling.one_in(PREEMPT_ONE_IN)) {
        wait(Wait::Ready);
    }
}

/// A new thread, which waits for its turn.
pub(super) fn register() -> (usize, &'static Turn) {
    machine(|machine| {
        let (number, turn, group) = (machine.thread_count, Turn::leaked(), machine.own().group.max(machine.group));
        machine.thread_count += 1;
        machine.threads.push(Thread { number, group, handle: 0, wait: Wait::Ready, was_woken: false, turn });
        (number, turn)
    })
}

/// The first thing that a new thread does.
pub(super) fn begin(number: usize, turn: &'static Turn) {
    turn.take();
    NUMBER.set(number);
    await_end();
}

/// Where new threads have their memory depends on what an ended one has given back, so that has to be all of it.
fn await_end() {
    if let Some(thread) = machine(|machine| machine.ended.take()) {
        real::await_end(thread);
    }
}

/// The last thing that a thread does: the turn goes to another one.
pub(super) fn end() {
    let next = machine(|machine| {
        let number = NUMBER.get();
        machine.threads.retain(|thread| thread.number != number);
        machine.ended = Some(real::thread_id());
        machine.choose()
    });
    NUMBER.set(OUTSIDE);
    next.1.give();
}

impl Machine {
    /// A look at the clock, which takes a moment.
    pub(super) fn read_clock_ns(&mut self) -> u64 {
        self.pass(LOOK_NS);
        self.now_ns
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.epoch_ms.saturating_add_unsigned((self.now_ns - BOOT_NS) / 1_000_000)
    }

    /// Nanoseconds since 1970.
    pub(super) fn wall_clock_ns(&self, now_ns: u64) -> i128 {
        i128::from(self.epoch_ms) * 1_000_000 + i128::from(now_ns - BOOT_NS)
    }

    pub(super) fn pass(&mut self, ns: u64) {
        self.now_ns = self.now_ns.saturating_add(ns);
    }

    pub(super) fn enter_new_group(&mut self) -> (Group, Group) {
        let before = self.group;
        self.group = Group(self.group_count);
        self.group_count += 1;
        (self.group, before)
    }

    pub(super) fn kill(&mut self, group: Group) {
        self.threads.retain(|thread| thread.group != group);
        self.paused.retain(|paused| *paused != group);
    }

    pub(super) fn set_handle(&mut self, number: usize, handle: usize) {
        if let Some(thread) = self.threads.iter_mut().find(|thread| thread.number == number) {
            thread.handle = handle;
        }
    }

    /// The number of the thread with this handle, if it has not ended.
    pub(super) fn number_of(&self, handle: usize) -> Option<usize> {
        self.threads.iter().find(|thread| thread.handle == handle).map(|thread| thread.number)
    }

    /// Makes as many threads ready as wait for this word; returns how many.
    pub(super) fn wake(&mut self, word: usize, count: usize, bits: u32) -> usize {
        let waits = |thread: &&mut Thread| match thread.wait {
            Wait::Futex { word: waited, bits: wanted, .. } => waited == word && wanted & bits != 0,
            _ => false,
        };
        let mut woken = 0;
        for thread in self.threads.iter_mut().filter(waits).take(count) {
            (thread.wait, thread.was_woken) = (Wait::Ready, true);
            woken += 1;
        }
        woken
    }

    fn own(&mut self) -> &mut Thread {
        let number = NUMBER.get();
        match self.threads.iter_mut().find(|thread| thread.number == number) {
            Some(thread) => thread,
            None => give_up("a thread that was killed runs"),
        }
    }

    /// The next thread that runs. When none can, time passes until one can.
    fn choose(&mut self) -> (usize, &'static Turn) {
        self.switches += 1;
        loop {
            let ready: Vec<usize> = (0..self.threads.len()).filter(|index| self.is_ready(*index)).collect();
            if !ready.is_empty() {
                let thread = &mut self.threads[ready[self.scheduling.index(ready.len())]];
                thread.wait = Wait::Ready;
                return (thread.number, thread.turn);
            }
            let running = self.threads.iter().filter(|thread| !self.paused.contains(&thread.group));
            match running.filter_map(|thread| thread.wait.until_ns()).min() {
                Some(until_ns) => self.now_ns = self.now_ns.max(until_ns),
                None => give_up("every thread waits for another one"),
            }
        }
    }

    fn is_ready(&self, index: usize) -> bool {
        let Thread { wait, group, .. } = self.threads[index];
        if self.paused.contains(&group) {
            return false;
        }
        let is_late = wait.until_ns().is_some_and(|until_ns| until_ns <= self.now_ns);
        match wait {
            Wait::Ready => true,
            Wait::Futex { .. } | Wait::Sleep { .. } => is_late,
            Wait::Events { queue, .. } => is_late || real::has_events(queue),
            Wait::Join { number } => !self.threads.iter().any(|thread| thread.number == number),
        }
    }
}

impl Wait {
    fn until_ns(self) -> Option<u64> {
        match self {
            Self::Ready | Self::Join { .. } => None,
            Self::Futex { until_ns, .. } | Self::Events { until_ns, .. } => until_ns,
            Self::Sleep { until_ns } => Some(until_ns),
        }
    }
}

impl Group {
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

/// The simulation itself is broken: nothing that it says afterwards would be true.
pub(super) fn give_up(reason: &str) -> ! {
    let line = format!("simulate: {reason}\n");
    // SAFETY: the text is as long as it says. Standard error without its lock, which another thread may hold.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    std::process::abort()
}
