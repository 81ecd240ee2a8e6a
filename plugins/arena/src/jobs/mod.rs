//! Scheduled jobs.

pub mod announce_awards;
