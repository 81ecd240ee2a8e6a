//! Scheduled jobs, one file per job.

pub mod follow;
pub mod pay;
