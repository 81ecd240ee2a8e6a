//! Scheduled jobs.

pub mod probe_tools;
