//! The table of tools: migrations/ makes it, nothing else in the house touches it.

pub mod probes;
pub mod tool_list;
pub mod tools;
