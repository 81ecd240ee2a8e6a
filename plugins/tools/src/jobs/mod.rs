//! Work that runs by itself.

pub mod probe_tools;
