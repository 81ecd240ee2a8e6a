//! One file per route, named after its operation.

pub mod get_leaderboard;
pub mod list_activity;
pub mod list_presence;
pub mod ping_presence;
pub mod stream_activity;
