//! The gateway's clock: the system's, or one that a test moves.
//!
//! The rule: code that decides by the time of day (ts windows, intervals, schedules, plugin sleeps) reads this clock;
//! time limits on work (requests, statements) use tokio's timer, so that moving a clock cannot expire them.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod backoff;
mod clock;
mod manual_clock;

pub use backoff::Backoff;
pub use clock::Clock;
pub use manual_clock::ManualClock;
