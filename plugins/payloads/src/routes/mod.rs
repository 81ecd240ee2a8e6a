//! One file per route, named after its operation.

pub mod get_payload;
pub mod store_payload;
