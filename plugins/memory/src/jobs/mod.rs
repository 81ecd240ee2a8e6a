//! The scheduled jobs.

pub mod prune_credits;
pub mod reseal_rows;
