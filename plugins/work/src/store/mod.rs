//! What other plugins have: one file per subject.

pub mod agents;
pub mod open_work;
