//! Scheduled jobs.

pub mod prune_payloads;
