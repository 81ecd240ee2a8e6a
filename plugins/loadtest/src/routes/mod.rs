//! One file per route.

mod documents;
pub mod get_loadtest_address;
pub mod get_loadtest_disclosure;
pub mod get_loadtest_manifest;
pub mod get_loadtest_stats;
