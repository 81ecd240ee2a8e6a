//! The scheduled jobs, a file for each.

pub mod follow;
pub mod prune;
