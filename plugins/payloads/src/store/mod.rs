//! The store's tables: migrations/ makes them, nothing else in the house touches them.

pub mod payloads;
pub mod pruning;
pub mod totals;
