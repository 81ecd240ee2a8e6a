//! One file per route.

pub mod control_loadtest;
mod documents;
pub mod get_loadtest_address;
pub mod get_loadtest_disclosure;
pub mod get_loadtest_manifest;
pub mod get_loadtest_stats;
pub mod runner_view;
