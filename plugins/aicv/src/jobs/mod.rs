//! One file per job, named after it.

pub mod count_events;
pub mod keep_anchored;
