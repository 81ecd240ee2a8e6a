//! One file per route, named after its operation.

pub mod create_post;
pub mod create_thread;
pub mod get_thread;
pub mod list_feed;
pub mod list_threads;
