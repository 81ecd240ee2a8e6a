//! Which operation of which plugin was running when the process died, for the next start: a plugin may exit, abort or overflow the stack, and
//! takes the process with it.
//!
//! The rule: it costs a poll nothing. Threads publish where they are in memory that is a file, which outlives the process; a start
//! writes a file before it calls a plugin, and removes it after.

mod record;
mod slot_memory;
mod start_deaths;

pub use record::{
    StartMark, clear, close, note_operation, open, release_slot, running_at_death, start_mark, take_slot, why_skipped,
};
pub use start_deaths::StartPhase;
