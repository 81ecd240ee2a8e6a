//! Scheduled jobs, one file or folder per job.

pub mod follow;
pub mod pay;
pub mod scan;
