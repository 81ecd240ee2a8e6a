//! One file per route, named after its operation.

pub mod create_message;
pub mod list_inbox;
