//! Derived tables. Only handlers of chain events write them.

pub mod agents;
pub mod feedback;
pub mod jobs;
pub mod settlement;
pub mod totals;
pub mod validations;
