//! Work that runs by itself.

pub mod prune_payloads;
