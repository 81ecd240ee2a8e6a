//! What is stored, and what other plugins publish.

pub mod agents;
pub mod anchored;
pub mod documents;
pub mod earlier_issues;
pub mod endorsements;
pub mod event_counts;
pub mod logs;
pub mod positions;
