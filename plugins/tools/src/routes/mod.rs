//! One file per route, named after its operation.

pub mod get_compute;
pub mod get_tool;
pub mod invoke_compute;
pub mod list_compute;
pub mod list_tools;
pub mod publish_tool;
