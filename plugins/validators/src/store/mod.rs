//! The waitlist's tables: migrations/ makes them, nothing else in the house touches them.

pub mod entries;
pub mod signatures;
