//! One file per job.

pub mod announce_outcomes;
pub mod settle;
