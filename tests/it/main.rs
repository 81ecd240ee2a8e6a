//! The house through its doors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod jobs;
mod plugin_files;
mod storage;
