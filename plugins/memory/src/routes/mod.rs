//! One file per route, named after its operation.

pub mod anchor_memory;
pub mod delete_memory;
pub mod get_memory;
pub mod get_memory_proof;
pub mod list_memory;
pub mod list_memory_anchors;
pub mod put_memory;

/// Calls of one client in a minute, for each route of values.
const PER_MINUTE: u32 = 120;
