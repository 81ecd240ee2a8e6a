//! What chain events write, and nobody else.

pub mod agents;
pub mod feedback;
pub mod jobs;
pub mod settlement;
pub mod totals;
pub mod validations;
