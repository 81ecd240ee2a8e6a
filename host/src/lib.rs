//! The gateway: loads plugins, serves HTTP, keeps the data. Read `boot.rs` first.

pub mod cli;
pub mod clock;
pub mod config;
pub mod egress;
pub mod envelope;
pub mod jobs;
pub mod storage;
