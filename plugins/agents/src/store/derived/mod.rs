//! Derived tables. Only handlers of chain events write them.

pub mod agents;
pub mod feedback;
pub mod jobs;
pub mod records;
pub mod totals;
pub mod validations;
