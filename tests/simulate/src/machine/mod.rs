//! A simulated machine: one thread of the process runs at a time, a seeded scheduler picks the next one, and time passes only when
//! all of them wait.
//!
//! The process itself stays as it is. It defines the functions of the C library with which threads wait, read a clock, draw random
//! bytes or sync a file ([`symbols`]), so std, tokio, parking_lot and SQLite call these. The rule that must not break: **only the
//! thread that has the turn runs, and it gives the turn away only inside of these functions.** So one seed makes one sequence of
//! everything.
//!
//! Not simulated: file contents and loopback sockets, which the kernel handles at once while only one thread runs.

mod addresses;
mod disk;
mod ports;
mod real;
mod scheduler;
mod symbols;
mod turn;

pub use addresses::fix_addresses;
pub use disk::keep_synced;
pub use scheduler::Group;

use scheduler::{Machine, machine};
use std::time::Duration;

/// Where the simulated monotonic clock begins: later than any real one that was read before.
pub(crate) const BOOT_NS: u64 = 1_000_000_000_000_000_000;

/// Begins the simulation; the calling thread has the turn. Once in a process.
pub fn start(seed: u64, epoch_ms: i64) {
    scheduler::start(seed, epoch_ms);
}

/// Unix milliseconds.
pub fn now_ms() -> i64 {
    machine(|machine| machine.now_ms())
}

pub fn now_s() -> i64 {
    now_ms().div_euclid(1000)
}

/// Time passes at once, as on a machine that was suspended: whoever waits until a time in between is late.
pub fn suspend(duration: Duration) {
    machine(|machine| machine.pass(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)));
}

/// The threads that the closure starts, and those that they start, belong to a new group.
pub fn in_new_group<T>(work: impl FnOnce() -> T) -> (Group, T) {
    let (group, before) = machine(Machine::enter_new_group);
    let result = work();
    machine(|machine| machine.group = before);
    (group, result)
}

/// The threads of the group never run again, wherever they are now: what SIGKILL does to a process.
pub fn kill(group: Group) {
    machine(|machine| machine.kill(group));
}

/// The threads of the group stand still, wherever they are, until they are resumed: what SIGSTOP does to a process.
pub fn pause(group: Group) {
    machine(|machine| machine.paused.push(group));
}

pub fn resume(group: Group) {
    machine(|machine| machine.paused.retain(|paused| *paused != group));
}

/// How often another thread got the turn.
pub fn switches() -> u64 {
    machine(|machine| machine.switches)
}
