//! The tables of artifacts: migrations/ makes them, nothing else in the house touches them.

pub mod artifact_list;
pub mod artifacts;
pub mod stars;
