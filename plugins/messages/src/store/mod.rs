//! The plugin's tables, and its reads of agents.

pub mod agents;
pub mod copies;
pub mod messages;
