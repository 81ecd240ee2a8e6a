//! Scheduled jobs.

pub mod write_network_pages;
