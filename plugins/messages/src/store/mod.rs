//! The plugin's tables, and what it reads of agents.

pub mod agents;
pub mod messages;
pub mod outbox;
