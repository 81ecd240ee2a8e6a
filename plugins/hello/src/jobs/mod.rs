//! Scheduled jobs, one file per job.

pub mod prune_guests;
