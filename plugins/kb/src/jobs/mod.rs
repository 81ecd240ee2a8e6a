//! Scheduled jobs.

pub mod index_pages;
pub mod write_network_pages;
