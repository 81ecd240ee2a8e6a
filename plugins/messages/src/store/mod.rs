//! The plugin's tables, and its reads of agents.

pub mod agents;
pub mod messages;
pub mod outbox;
